/* lxplan sweep --team: predicted time, exchanged bytes, HBM bytes per member and efficiency against the
 * number of members, beside the bound. Plans are made, nothing is executed. */
#include "sweep/sweep_out.h"
#include "commands/team_commands.h"
#include "interrupt.h"
#include "planning/planning.h"

struct team_size {
    int members;
    struct lx_team_grid grid; /* without axes: the best grid is searched */
    struct lx_team_point point;
    bool planned;
    lx_status why;
    double alone_us; /* of one device */
};

typedef VEC(struct team_size) team_sizes;

static bool add_size(struct call *call, const char *text, size_t length, team_sizes *out)
{
    char word[64];
    struct team_size s = {0};
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (!lx_team_grid_of_text(word, &s.grid, &call->st)) return false;
    s.members = lx_team_device_count(&s.grid);
    if (s.grid.axes == 1) s.grid.axes = 0;
    VEC_PUSH(out, s);
    return true;
}

/* "1..256", doubled from one to the next; or a list of numbers and grids. */
static bool team_sweep_read_sizes(struct call *call, const char *text, team_sizes *out)
{
    const char *dots = strstr(text, "..");
    if (!dots) {
        for (;; text++) {
            size_t length = strcspn(text, ",");
            if (!add_size(call, text, length, out)) return false;
            text += length;
            if (!*text) return true;
        }
    }
    OWNED team_sizes ends = {0};
    bool ok = add_size(call, text, (size_t)(dots - text), &ends) &&
              add_size(call, dots + 2, strlen(dots + 2), &ends);
    if (ok && (ends.at[0].grid.axes || ends.at[1].grid.axes || ends.at[0].members > ends.at[1].members))
        ok = status_set(
            &call->st, LX_E_USAGE,
            "--team %.60s: a range is of numbers and goes up, as 1..64; grids go in a list: 2x2,2x4", text);
    int last = ok ? ends.at[1].members : 0;
    for (int n = ok ? ends.at[0].members : 1; ok && n < last; n *= 2)
        VEC_PUSH(out, ((struct team_size){.members = n}));
    if (ok) VEC_PUSH(out, ((struct team_size){.members = last}));
    return ok;
}

static void team_sweep_amount(const struct team_size *s, int64_t n, struct value *v)
{
    v->number = NAN;
    if (s->planned) value_whole(v, n);
}

/* clang-format off */
VALUE_OF(grid_value,    struct team_size,
    for (int a = 0; row->planned && a < row->point.grid.axes; a++) value_format(v, a ? "x%d" : "%d", row->point.grid.size[a]);)
VALUE_OF(us_value,      struct team_size, v->number = row->planned ? row->point.us : NAN;)
VALUE_OF(least_value,   struct team_size, v->number = row->planned ? row->point.bound_us : NAN; v->paint = PAINT_DIM;)
VALUE_OF(waited_value,  struct team_size, v->number = row->planned ? row->point.waited_us : NAN;)
VALUE_OF(speedup_value, struct team_size, v->number = row->planned && row->point.us > 0 ? row->alone_us / row->point.us : NAN;)
VALUE_OF(share_value,   struct team_size, speedup_value(row, column, v); v->number /= row->members;)
VALUE_OF(moved_value,   struct team_size, team_sweep_amount(row, row->point.bytes, v);)
VALUE_OF(must_value,    struct team_size, team_sweep_amount(row, row->point.bound_bytes, v); v->paint = PAINT_DIM;)
VALUE_OF(hbm_value,     struct team_size, team_sweep_amount(row, row->point.hbm_bytes, v);)
VALUE_OF(shapes_value,  struct team_size, team_sweep_amount(row, row->point.shapes, v);)
VALUE_OF(why_value,     struct team_size, v->words = !row->planned ? row->why.text : row->point.unsharded ? lx_team_unsharded_words() : "";)

static const struct column size_array[] = {
    {.key = "members",         .heading = "devices",        .kind = VALUE_NUMBER, MEMBER(struct team_size, members)},
    {.key = "grid",            .heading = "grid",           .kind = VALUE_MARK,   .value = grid_value},
    {.key = "predicted_us",    .heading = "predicted",      .kind = VALUE_MICROS, .digits = 9, .value = us_value},
    {.key = "bound_us",        .heading = "lower bound",    .kind = VALUE_MICROS, .digits = 9, .value = least_value},
    {.key = "waited_us",       .heading = "waited",         .kind = VALUE_MICROS, .digits = 9, .value = waited_value},
    {.key = "speedup",         .heading = "speedup",        .kind = VALUE_RATIO,  .digits = 6, .value = speedup_value},
    {.key = "efficiency",      .heading = "efficiency",     .kind = VALUE_SHARE,  .digits = 6, .value = share_value},
    {.key = "exchanged_bytes", .heading = "exchanged",      .kind = VALUE_BYTES,  .value = moved_value},
    {.key = "bound_bytes",     .heading = "bound",          .kind = VALUE_BYTES,  .value = must_value},
    {.key = "hbm_bytes",       .heading = "HBM per device", .kind = VALUE_BYTES,  .value = hbm_value},
    {.key = "shapes",          .heading = "plans",          .kind = VALUE_COUNT,  .value = shapes_value},
    {.key = "why",             .heading = "why",            .kind = VALUE_WORDS,  .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, .value = why_value},
};
/* clang-format on */

const struct columns team_size_columns = COLUMNS("sizes of a team", size_array);

static bool team_sweep_predict(const struct lx_graph *g, const struct lx_team_options *asked,
                               const struct lx_plan_options *plan, struct team_size *s)
{
    struct lx_team_options how = *asked;
    struct lx_plan_options watched = *plan;
    struct watch watch;
    how.devices = s->members;
    how.grid = s->grid;
    watched.run.stop = watch_must_stop;
    watched.run.context = &watch;
    watch_begin(&watch, 0);
    s->planned = lx_team_predict(g, &how, &watched, &s->point, &s->why);
    watch_end(&watch);
    return s->planned;
}

/* Each size, and one device to compare with. */
static bool predict_all(struct call *call, const struct lx_graph *g, team_sizes *sizes)
{
    struct lx_team_options how = {0};
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct team_size alone = {.members = 1};
    if (!read_plan_options(call, g, &plan, values) || !read_team_aim(call, plan.objective, &how.by_time))
        return false;
    if (!team_sweep_predict(g, &how, &plan, &alone)) return call->st = alone.why, false;
    for (size_t i = 0; i < sizes->count && !interrupted; i++) {
        struct team_size *s = &sizes->at[i];
        s->alone_us = alone.point.us;
        if (s->members == 1)
            s->point = alone.point, s->planned = true;
        else
            team_sweep_predict(g, &how, &plan, s);
    }
    if (interrupted) note(call, "%s: interrupted; this is what was planned so far", g->file);
    return true;
}

/* Options of a sweep over sizes that --team does not take. */
static bool refuse_others(struct call *call)
{
    static const char *const others[] = {"lx",    "cores",  "steps", "value", "svg",      "html",
                                         "width", "height", "ascii", "jobs",  "transport"};
    const char *form = option_value(&call->line, "format");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(&call->line, others[i]))
            return status_set(&call->st, LX_E_USAGE, "--%s does not go with --team; leave one of them out",
                              others[i]);
    if (!form || strcmp(form, "text") == 0 || strcmp(form, "csv") == 0 || strcmp(form, "json") == 0)
        return true;
    return status_set(&call->st, LX_E_USAGE, "--format %s: with --team there are text, csv and json", form);
}

int sweep_team(struct call *call)
{
    OWNED team_sizes sizes = {0};
    struct text out = {0};
    bool ok = refuse_others(call) && team_sweep_read_sizes(call, option_value(&call->line, "team"), &sizes);
    SCOPED(graph_free_at) const struct lx_graph *g = ok ? read_pattern(call, call->line.files.at[0]) : NULL;
    ok = g && predict_all(call, g, &sizes);
    if (ok) {
        const char *form = option_value(&call->line, "format");
        struct table table = TABLE(team_size_columns, sizes.at, sizes.count);
        if (option_given(&call->line, "json")) form = "json";
        if (!form || strcmp(form, "text") == 0) {
            text_format(&out, "%s: predicted for teams of %d to %d, nothing executed\n\n", g->name,
                        sizes.at[0].members, sizes.at[sizes.count - 1].members);
            table_add_text(&table, &out);
        } else if (strcmp(form, "csv") == 0)
            exporter_find("csv")->add(&table, &out);
        else {
            text_add(&out, "{\"lxplan\": 1, \"kind\": \"team sweep\", \"pattern\": ");
            text_json_string(&out, g->name);
            text_add(&out, ",\n\"points\": [\n");
            table_add_json_rows(&table, 2, &out);
            text_add(&out, "\n]}\n");
        }
    }
    bool people = !option_given(&call->line, "json") && !option_given(&call->line, "format");
    if (ok && people && is_quiet(call))
        text_free(&out);
    else if (ok)
        ok = deliver(call, out.at, out.length);
    else
        text_free(&out);
    return !ok ? FAILED : interrupted ? EXIT_INTERRUPTED : EXIT_YES;
}
