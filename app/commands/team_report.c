/* Devices of a team in a table, and the result of a run as text and as JSON. */
#include "commands/team_commands.h"
#include "team/team_show.h"
#include "text/table.h"

enum { MOST_MEMBERS_SHOWN = 40 };

struct device_row {
    int member;
    bool ran;
    const struct lx_team_account *a;
};

static int64_t hbm_of(const struct lx_counters *c)
{
    return c->hbm_read + c->hbm_written;
}

static int64_t lx_of(const struct lx_counters *c)
{
    return c->lx_read + c->lx_written;
}

/* Nothing where there is no run. */
static void counted_value(const struct device_row *row, int64_t n, int64_t planned, struct value *v)
{
    if (!row->ran) {
        v->words = "";
        return;
    }
    value_whole(v, n);
    v->paint = n == planned ? PAINT_GOOD : PAINT_BAD;
}

/* clang-format off */
VALUE_OF(hbm_value,         struct device_row, value_whole(v, hbm_of(&row->a->planned)); v->paint = PAINT_DIM;)
VALUE_OF(hbm_counted_value, struct device_row, counted_value(row, hbm_of(&row->a->counted), hbm_of(&row->a->planned), v);)
VALUE_OF(lx_value,          struct device_row, value_whole(v, lx_of(&row->a->planned)); v->paint = PAINT_DIM;)
VALUE_OF(lx_counted_value,  struct device_row, counted_value(row, lx_of(&row->a->counted), lx_of(&row->a->planned), v);)
VALUE_OF(rings_value,       struct device_row, value_whole(v, row->a->planned.ring + row->a->planned.reduce_ring); v->paint = PAINT_DIM;)
VALUE_OF(sent_value,        struct device_row, value_whole(v, row->a->bytes + row->a->combine_bytes);)
VALUE_OF(state_value,       struct device_row,
    v->words = row->a->ops == 0 ? "nothing to do" : !row->ran ? "planned" : row->a->ok ? "as planned" : row->a->why;
    v->paint = row->a->ok || !row->ran ? PAINT_DIM : PAINT_BAD;)

static const struct column device_array[] = {
    {.key = "member",      .heading = "device",      .kind = VALUE_NUMBER, MEMBER(struct device_row, member)},
    {.key = "ops",         .heading = "ops",         .kind = VALUE_COUNT,  VIA(struct device_row, a, ops)},
    {.key = "hbm_bytes",   .heading = "HBM planned", .kind = VALUE_BYTES,  .value = hbm_value},
    {.key = "hbm_counted", .heading = "counted",     .kind = VALUE_BYTES,  .value = hbm_counted_value},
    {.key = "lx_bytes",    .heading = "LX planned",  .kind = VALUE_BYTES,  .value = lx_value},
    {.key = "lx_counted",  .heading = "counted",     .kind = VALUE_BYTES,  .value = lx_counted_value},
    {.key = "ring_bytes",  .heading = "rings",       .kind = VALUE_BYTES,  .value = rings_value},
    {.key = "sent_bytes",  .heading = "sent",        .kind = VALUE_BYTES,  .value = sent_value},
    {.key = "state",       .heading = "state",       .kind = VALUE_WORDS,  .value = state_value},
};
/* clang-format on */

const struct columns team_device_columns = COLUMNS("devices of a team", device_array);

void show_devices(const struct lx_team_account *accounts, int members, bool ran, struct text *out)
{
    struct device_row rows[MOST_MEMBERS_SHOWN];
    int n = members < MOST_MEMBERS_SHOWN ? members : MOST_MEMBERS_SHOWN;
    for (int m = 0; m < n; m++) rows[m] = (struct device_row){m, ran, &accounts[m]};
    table_add_text(&TABLE(team_device_columns, rows, n), out);
    if (members > n) text_format(out, "  ... %s more\n", counted(members - n, "device").at);
}

static void show_comparison(const struct lx_team_result *r, struct text *out)
{
    text_add(out, "\nresult    ");
    if (r->bad_device >= 0) {
        paint_add(out, PAINT_BAD, "WRONG");
        text_format(out, ": device %d: %s; ", r->bad_device, r->devices[r->bad_device].why);
    } else
        paint_add(out, r->ok ? PAINT_GOOD : PAINT_BAD,
                  !r->ok         ? "NOT EQUAL"
                  : r->differing ? "close"
                                 : "equal");
    text_format(out, " to one device's: %s of %s elements differ in a bit", grouped(r->differing).at,
                grouped(r->elements).at);
    if (r->differing) text_format(out, ", by at most %.3g of %.3g", r->worst, r->largest);
    if (r->exact)
        text_add(out, "; none may\n");
    else if (r->ok)
        text_add(out, "; sums may be grouped differently there\n");
    else
        text_format(out,
                    "; more than %.3g, a tenth of the largest, is not explained by the grouping of sums\n",
                    r->limit);
}

void show_team_result(const struct lx_team_plan *p, const struct lx_transport *transport,
                      const struct lx_team_result *r, struct text *out)
{
    add_printable(out, p->graph->name, 0);
    text_format(out, " on %s over %s\n\n", counted(p->devices, "device").at, transport->name);
    show_exchanges(p, out);
    show_totals(p, out);
    text_add(out, "\n");
    show_devices(r->devices, r->device_count, true, out);
    text_format(out, "sent      %s B in %s of exchanges, %s B to combine partial results\n",
                grouped(r->total.bytes).at, counted(r->total.messages, "message").at,
                grouped(r->total.combine_bytes).at);
    text_format(out, "judged    %s of %s ops on devices, %s wrong; %s; %s whose counts are not the plan's",
                grouped(r->total.verified_ops).at, grouped(r->total.device_ops).at,
                grouped(r->total.wrong_ops).at, counted(r->total.faults, "fault").at,
                counted(r->total.unequal_ops, "op").at);
    show_comparison(r, out);
}

static void counters_to_json(const char *key, const struct lx_counters *c, struct text *out)
{
    text_format(out,
                ", \"%s\": {\"hbm_read\": %" PRId64 ", \"hbm_written\": %" PRId64 ", \"lx_read\": %" PRId64
                ", \"lx_written\": %" PRId64 ", \"ring\": %" PRId64 ", \"reduce_ring\": %" PRId64 "}",
                key, c->hbm_read, c->hbm_written, c->lx_read, c->lx_written, c->ring, c->reduce_ring);
}

void team_result_to_json(const struct lx_team_plan *p, const struct lx_team_result *r, struct text *out)
{
    text_add(out, "{\"lxplan\": 1, \"kind\": \"team run\", \"pattern\": ");
    text_json_string(out, p->graph->name);
    text_format(out,
                ", \"members\": %d, \"ok\": %s, \"exact\": %s, \"elements\": %" PRId64
                ", \"differing\": %" PRId64 ", \"worst\": %.9g, \"largest\": %.9g",
                p->devices, r->ok ? "true" : "false", r->exact ? "true" : "false", r->elements, r->differing,
                r->worst, r->largest);
    text_format(out,
                ", \"exchanged_bytes\": %" PRId64 ", \"combine_bytes\": %" PRId64
                ", \"plain_bytes\": %" PRId64 ", \"ops\": [",
                r->total.bytes, r->total.combine_bytes, p->plain_bytes);
    for (int32_t o = 0; o < p->graph->op_count; o++) {
        text_add(out, o ? ", {\"name\": " : "{\"name\": ");
        text_json_string(out, p->graph->ops[o].name);
        text_format(out, ", \"mode\": \"%s\", \"bytes\": %" PRId64 "}", lx_team_mode_word(p->ops[o].mode),
                    p->ops[o].bytes);
    }
    text_add(out, "], \"exchanges\": [");
    for (int32_t i = 0; i < p->exchange_count; i++) {
        const struct lx_team_exchange *x = &p->exchanges[i];
        text_add(out, i ? ", {\"tensor\": " : "{\"tensor\": ");
        text_json_string(out, p->graph->tensors[x->tensor].name);
        text_format(out, ", \"bytes\": %" PRId64 ", \"received\": [", x->bytes);
        for (int m = 0; m < p->devices; m++) text_format(out, "%s%" PRId64, m ? ", " : "", x->received[m]);
        text_add(out, "]}");
    }
    text_add(out, "], \"member_runs\": [");
    for (int m = 0; m < r->device_count; m++) {
        const struct lx_team_account *a = &r->devices[m];
        text_format(out, "%s{\"member\": %d, \"ops\": %" PRId64 ", \"ok\": %s, \"sent_bytes\": %" PRId64,
                    m ? ", " : "", m, a->ops, a->ok ? "true" : "false", a->bytes + a->combine_bytes);
        counters_to_json("planned", &a->planned, out);
        counters_to_json("counted", &a->counted, out);
        text_add(out, "}");
    }
    text_add(out, "]}\n");
}

void show_team_check(const struct lx_team_plan *p, const char *file, const char *why, struct text *out)
{
    add_printable(out, file, 0);
    if (p) text_format(out, ", %s", counted(p->devices, "device").at);
    text_add(out, ": ");
    paint_add(out, why ? PAINT_BAD : PAINT_GOOD, why ? "no" : "yes");
    text_add(out, ": ");
    if (why)
        add_printable(out, why, 0);
    else
        text_format(out, "legal, and so is each device's plan; %s exchanged, %s to combine partial results",
                    in_bytes(p->bytes).at, in_bytes(p->combine_bytes).at);
    text_add(out, "\n");
}

void team_check_to_json(const struct lx_team_plan *p, const char *file, const char *why, struct text *out)
{
    text_add(out, "{\"lxplan\": 1, \"kind\": \"check\", \"file\": ");
    text_json_string(out, file);
    text_format(out, ", \"pass\": %s", why ? "false" : "true");
    if (p)
        text_format(out, ", \"members\": %d, \"bytes\": %" PRId64 ", \"combine_bytes\": %" PRId64, p->devices,
                    p->bytes, p->combine_bytes);
    text_add(out, ", \"text\": ");
    text_json_string(out, why ? why : "legal");
    text_add(out, "}\n");
}
