/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A daemon that reads its file again on SIGHUP: 32_reload greeting.txt &  kill -HUP $!
 *
 * SIGTERM and SIGINT belong to the runner, which stops all actors in order.
 */
#include <signal.h>
#include <stdio.h>
#include <troupe/troupe.h>

struct app {
    const char *path;
};

static void read_greeting(void *argument)
{
    const char *path = argument;
    char line[80] = "";
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof line, file))
        printf("%s cannot be read\n", path);
    else
        printf("%s", line);
    if (file)
        fclose(file);
    fflush(stdout);
}

static tr_next on_args(tr_self *self, struct app *app, const struct tr_args *message)
{
    app->path = tr_strdup(self, message->argv.count > 1 ? message->argv.items[1] : "greeting.txt");
    tr_signals(self, SIGHUP);
    tr_blocking(self, read_greeting, (void *)(uintptr_t)app->path); /* on a helper thread */
    return TR_SAME;
}

static tr_next on_signal(tr_self *self, struct app *app)
{
    tr_blocking(self, read_greeting, (void *)(uintptr_t)app->path);
    return TR_SAME;
}

TR_BEHAVIOR(app, struct app, TR_ON(tr_args, on_args), TR_ON(tr_signal, on_signal));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
