/* SPDX-License-Identifier: Apache-2.0 */
/** --help, the man page and the completion of bash, from the table of catalog.h. */
#include <stdio.h>
#include <string.h>

#include "catalog.h"

static const char exits[][2][60] = {{"0", "done"},
                                    {"1", "refused; standard error says why"},
                                    {"2", "wrong arguments"},
                                    {"3", "no program was found, or several"},
                                    {"4", "the connection ended before the answer"}};

/* Writes a text in lines of at most 78 columns, indented behind the first column. */
static void text_fill(const char *text, int column)
{
    int at = column;
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (at > column && at + 1 + word > 78) {
            printf("\n%*s", column, "");
            at = column;
        } else if (at > column) {
            putchar(' ');
            at++;
        }
        printf("%.*s", word, text);
        at += word;
        text += word;
        text += *text == ' ';
    }
    putchar('\n');
}

static void row_print(const char *name, const char *rest, const char *text)
{
    char head[80];
    int length = snprintf(head, sizeof head, "  %s%s%s", name, *rest ? " " : "", rest);
    printf("%-29s", head);
    if (length >= 29)
        printf("\n%29s", "");
    text_fill(text, 29);
}

static void command_help(const struct command *command)
{
    printf("usage: troupe [-p PROGRAM] %s%s%s%s\n\n",
           command->name,
           *command->arguments ? " " : "",
           command->arguments,
           *command->options ? " [option...]" : "");
    text_fill(command->text, 0);
    putchar('\n');
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        if (command_takes(command, option))
            row_print(option->name, option->value ? option->value : "", option->text);
    }
    printf("\nexample:\n  troupe %s\n", command->example);
}

void help_print(const struct command *command)
{
    if (command) {
        command_help(command);
        return;
    }
    printf("usage: troupe [-p PROGRAM | --store DIR] [--json] COMMAND [argument...]\n\n"
           "Looks into a running program. troupe COMMAND --help has the options of a command.\n");
    for (size_t i = 0; i < command_count; i++) {
        if (commands[i].text)
            row_print(commands[i].name, commands[i].arguments, commands[i].text);
        else
            printf("\n%s\n", commands[i].name);
    }
    printf("\nOptions of all commands\n");
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        if (option->is_global)
            row_print(option->name, option->value ? option->value : "", option->text);
    }
    row_print("-h, --help", "", "this text");
    row_print("--version", "", "the version of the tool");
    printf("\nCommands that change something leave a line in the log of the program.\n\nExit "
           "status\n");
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
        row_print(exits[i][0], "", exits[i][1]);
    printf("\nexamples:\n");
    for (size_t i = 0; i < command_count; i++) {
        if (commands[i].text && strchr(commands[i].example, ' '))
            printf("  troupe %s\n", commands[i].example);
    }
}

/* ---- The man page. ---- */

/* Writes a text for troff: a hyphen must be escaped, and so must a dot or quote at the beginning of a line. */
static void troff_print(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void troff_head(const char *name, const char *rest)
{
    printf(".TP\n.B ");
    troff_print(name);
    putchar('\n');
    if (*rest) { /* the same line, in italics */
        fputs("\\fI", stdout);
        troff_print(rest);
        fputs("\\fR\n", stdout);
    }
}

static void troff_command(const struct command *command)
{
    printf(".TP\n\\fB");
    troff_print(command->name);
    printf("\\fR");
    if (*command->arguments) {
        printf(" \\fI");
        troff_print(command->arguments);
        printf("\\fR");
    }
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        if (option->is_global || !command_takes(command, option))
            continue;
        printf(" [\\fB");
        troff_print(option->name);
        printf("\\fR%s\\fI%s\\fR]", option->value ? " " : "", option->value ? option->value : "");
    }
    putchar('\n');
    troff_print(command->text);
    printf(".\n.br\n");
    troff_print("troupe ");
    troff_print(command->example);
    putchar('\n');
}

void man_print(void)
{
    printf(
        ".TH TROUPE 1 \"\" \"Troupe\" \"User Commands\"\n.SH NAME\ntroupe \\- looks into running "
        "programs\n"
        ".SH SYNOPSIS\n.B troupe\n[\\fB\\-p\\fR \\fIPROGRAM\\fR | \\fB\\-\\-store\\fR \\fIDIR\\fR] "
        "[\\fB\\-\\-json\\fR] \\fICOMMAND\\fR [\\fIargument\\fR...]\n.SH DESCRIPTION\n"
        "Talks to a program of the library Troupe over its control socket. Commands that change "
        "something leave a\n"
        "line in the log of the program.\n");
    for (size_t i = 0; i < command_count; i++) {
        if (commands[i].text) {
            troff_command(&commands[i]);
        } else {
            printf(".SS ");
            troff_print(commands[i].name);
            putchar('\n');
        }
    }
    printf(".SH OPTIONS\n");
    for (size_t i = 0; i < option_count; i++) {
        troff_head(option_table[i].name, option_table[i].value ? option_table[i].value : "");
        troff_print(option_table[i].text);
        printf(".\n");
    }
    printf(".SH EXIT STATUS\n");
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++) {
        troff_head(exits[i][0], "");
        troff_print(exits[i][1]);
        printf(".\n");
    }
    printf(".SH FILES\n.TP\n.I $XDG_RUNTIME_DIR/troupe/<program>.<pid>.sock\nThe control socket of "
           "a program.\n");
}

/* ---- The completion. ---- */

/* Writes the words that can follow `first`: the second words of its commands. */
static void second_words(const char *first, size_t length)
{
    for (size_t i = 0; i < command_count; i++) {
        const char *name = commands[i].name;
        if (commands[i].text && strncmp(name, first, length) == 0 && name[length] == ' ')
            printf(" %s", name + length + 1);
    }
}

/* Whether a command with this first word stands earlier in the table. */
static bool is_repeated(size_t at, size_t length)
{
    for (size_t i = 0; i < at; i++) {
        const char *name = commands[i].name;
        if (commands[i].text && strncmp(name, commands[at].name, length) == 0 &&
            (name[length] == ' ' || name[length] == '\0'))
            return true;
    }
    return false;
}

void completion_print(void)
{
    printf("# Completion of bash for troupe; made by troupe --completion.\n_troupe()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} i command= second=\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in\n        -p | --store) ((i++)) ;;\n        -*) ;;\n"
           "        *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else "
           "second=${second:-${COMP_WORDS[i]}}; fi ;;\n"
           "        esac\n    done\n    local words=\n    case $command in\n    '') words=\"");
    for (size_t i = 0; i < command_count; i++) {
        size_t length = strcspn(commands[i].name, " ");
        if (commands[i].text && !is_repeated(i, length))
            printf("%.*s ", (int)length, commands[i].name);
    }
    printf("\" ;;\n");
    for (size_t i = 0; i < command_count; i++) {
        size_t length = strcspn(commands[i].name, " ");
        if (!commands[i].text || is_repeated(i, length))
            continue;
        printf("    %.*s) words=\"", (int)length, commands[i].name);
        for (size_t j = i; j < command_count;
             j++) { /* options of all commands with this first word */
            if (!commands[j].text || strncmp(commands[j].name, commands[i].name, length) != 0 ||
                (commands[j].name[length] != ' ' && commands[j].name[length] != '\0'))
                continue;
            fputs(commands[j].options, stdout);
        }
        printf("\"; [[ -z $second ]] && words+=\"");
        second_words(commands[i].name, length);
        printf("\" ;;\n");
    }
    printf("    esac\n    COMPREPLY=($(compgen -W \"$words -p --store --json --help --version\" -- "
           "\"$word\"))\n}\n"
           "complete -o default -F _troupe troupe\n");
}
