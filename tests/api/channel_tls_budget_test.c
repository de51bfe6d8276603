/* SPDX-License-Identifier: Apache-2.0 */
/** What a session with TLS holds counts for its budget. On the network of kits; unit/net_charge_test.c is without TLS. */
#include "support/certificates.h"
#include "support/net.h"

static struct certificates at;
static char server_pem[128], server_key[128], authority[128];

static tr_next on_opened(void)
{
    say("opened");
    return TR_SAME;
}

static tr_next on_line(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_closed, on_line));

enum { BUDGET = 64 * 1024 };

TR_BEHAVIOR_DECLARE(frugal);
TR_BEHAVIOR(frugal, void, TR_ON(tr_opened, on_opened), TR_ON(tr_received, on_line),
            TR_OPTIONS(.budget_bytes = BUDGET));

static tr_next listen_frugally(tr_self *self)
{
    listener = tr_listen(
        self,
        frugal,
        TR_TLS(SERVER, .certificate = server_pem, .key = server_key, .framing = TR_LINES));
    return TR_SAME;
}

static size_t half_size;
static tr_next send_half(tr_self *self)
{
    static char half[2 * BUDGET];
    tr_bytes line;
    memset(half, 'x', sizeof half);
    tr_channel channel =
        tr_connect(self, TR_TLS(SERVER, .trusts = authority, .server_name = "shop.example"));
    tr_status status = tr_write(self, channel, (tr_bytes){half, half_size});
    if (status == TR_OK)
        status = tr_try_read(self, channel, &line);
    say("client %s", tr_status_name(status));
    return TR_SAME;
}

/* What has come through TLS and was not read counts as without TLS. */
TEST(a_session_with_tls_has_its_budget, "C-15", "O-06")
{
    certificates_init(&at);
    snprintf(server_pem, sizeof server_pem, "%s", certificate_path(&at, "shop.pem"));
    snprintf(server_key, sizeof server_key, "%s", certificate_path(&at, "shop.key"));
    snprintf(authority, sizeof authority, "%s", certificate_path(&at, "authority.pem"));
    kit_open(1, 1);
    tr_kit_advance(kit, (time(NULL) - 1704067200) * TR_SECOND); /* a kit begins in 2024 */
    HOST(host, listen_frugally);
    half_size = BUDGET / 4;
    host_run(send_half);
    tr_kit_advance(kit, TR_SECOND);
    SAID("opened");
    half_size = 2 * BUDGET;
    host_run(send_half);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_ptr_nonnull(strstr(said(), "client TR_RESET"));
    kit_close();
    certificates_deinit(&at);
}

SUITE("budgets with TLS", a_session_with_tls_has_its_budget)
