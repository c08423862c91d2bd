/* A plan as the data of its page: facts in words, buffers column by column (some 60 bytes each), ops with
 * what each core holds. */
#include "export/export_rows.h"
#include "export/nest_words.h"
#include "export/page.h"
#include "export/plan_words.h"
#include "export/plan_map.h"
#include "plan/occupancy.h"

/* Names of files are made printable. */
static void page_add_name(struct text *out, const char *name)
{
    OWNED char *clean = printable(name ? name : "", 0);
    text_json_string(out, clean);
}

static void page_add_fact(struct text *out, const char *name, const char *value, const char *tone)
{
    text_add(out, !out->length || out->at[out->length - 1] == '[' ? "[" : ", [");
    text_json_string(out, name);
    text_add(out, ", ");
    text_json_string(out, value);
    if (tone) text_format(out, ", \"%s\"", tone);
    text_add(out, "]");
}

static void page_add_facts(const struct lx_plan *p, const struct lx_plan *other, int64_t peak,
                           struct text *out)
{
    const struct lx_figures *f = &p->figures;
    bool list = p->graph->list, height = p->problem.objective == LX_HEIGHT;
    SCOPED(text_free) struct text times = {0};
    text_add(out, "\"facts\": [");
    if (height)
        page_add_fact(out, "height", in_bytes(f->height_bytes).at, NULL);
    else
        page_add_fact(out, list ? "cost of what is off chip" : "HBM traffic", in_bytes(f->hbm_bytes).at,
                      NULL);
    if (p->problem.objective != LX_FIT) {
        double gap = lx_plan_gap(p);
        if (gap <= 0)
            page_add_fact(out, "proof", optimal_words(p), "good");
        else
            page_add_fact(out, "above the proven least", in_gap(gap).at, NULL);
    }
    if (f->baseline_hbm_bytes > 0 && !height)
        page_add_fact(
            out, "saved",
            in_percent((double)(f->baseline_hbm_bytes - f->hbm_bytes) / (double)f->baseline_hbm_bytes).at,
            NULL);
    if (p->graph->target_hbm_bytes >= 0)
        page_add_fact(out, "target", lx_plan_meets_target(p) ? "met" : "missed",
                      lx_plan_meets_target(p) ? "good" : "bad");
    if (p->nest_count > 0) {
        struct words iterations = counted(plan_iterations(p), "iteration");
        page_add_fact(out, counted(p->nest_count, "nest").at, iterations.at, NULL);
    }
    text_format(&times, "%s", in_micros(f->end_to_end_us).at);
    if (!list) page_add_fact(out, "from end to end, predicted", times.at ? times.at : "", NULL);
    if (!list) page_add_fact(out, "cores", grouped(p->graph->device.cores).at, NULL);
    if (!height)
        page_add_fact(out, list ? "capacity" : "LX of each core", in_bytes(p->problem.capacity).at, NULL);
    if (!height && p->problem.capacity > 0)
        page_add_fact(out, "most in use", in_percent((double)peak / (double)p->problem.capacity).at, NULL);
    if (other) {
        /* Figures of the other plan. */
        SCOPED(text_free) struct text name = {0}, value = {0};
        text_add(&name, "beside it: ");
        add_printable(&name, other->graph->name ? other->graph->name : "", 0);
        text_format(&name, ", %s", other->solver);
        add_value_words(other, false, &value);
        page_add_fact(out, name.at ? name.at : "", value.at ? value.at : "", NULL);
    }
    text_add(out, "],\n");
}

enum plan_page_column {
    SIZE,
    START,
    END,
    POOL,
    ADDRESS,
    COST,
    SLOT,
    IDENTITY,
    BARRED,
    HOLD,
    NEST,
    LEVELS,
    COLUMNS
};

static const char *const plan_page_keys[COLUMNS] = {"size",    "start", "end",  "pool",
                                                    "address", "cost",  "slot", "identity",
                                                    "barred",  "hold",  "nest", "levels"};

/* The value of a buffer in a column of numbers. */
static int64_t page_number(const struct lx_plan *p, int32_t i, enum plan_page_column column)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    bool placed = p->answer.address[i] >= 0;
    int32_t nest = is_tile(p, i) ? plan_nest_at(p, p->stays[i].first) : -1;
    switch (column) {
    case SIZE: return b->size;
    case START: return b->start;
    case END: return b->end;
    case POOL: return placed ? lx_pool_of(p, i) : 0;
    case ADDRESS: return placed ? p->answer.address[i] : -1;
    case COST: return b->spill_cost;
    case SLOT: return p->took_slot_of[i];
    case IDENTITY: return buffer_identity(p, i);
    case BARRED: return b->reason != NULL;
    case HOLD: return p->stays ? p->stays[i].hold : 0;
    case NEST: /* of a tile, or -1 */ return nest;
    default: /* bits of the levels that split the tile's tensor */
        return nest < 0 ? 0
                        : nest_tensor_of(p->layouts, &p->nests[nest], p->stays[i].tensor).indexed &
                              levels_to(p->stays[i].hold);
    }
}

/* Numbers of an array, between its brackets. */
static void page_add_numbers(const int64_t *at, size_t count, struct text *out)
{
    for (size_t i = 0; i < count; i++) text_format(out, i ? ",%" PRId64 : "%" PRId64, at[i]);
}

static void page_add_buffers(const struct lx_plan *p, struct text *out)
{
    OWNED int64_t *moved = moved_by_buffers(p);
    text_add(out, "\"buffers\": {\"name\": [");
    for (int32_t i = 0; i < p->problem.count; i++) {
        if (i) text_add(out, ",");
        page_add_name(out, p->problem.buffers[i].name);
    }
    text_add(out, "]");
    for (int k = 0; k < COLUMNS; k++) {
        text_format(out, ",\n\"%s\": [", plan_page_keys[k]);
        for (int32_t i = 0; i < p->problem.count; i++)
            text_format(out, i ? ",%" PRId64 : "%" PRId64, page_number(p, i, (enum plan_page_column)k));
        text_add(out, "]");
    }
    text_add(out, ",\n\"moved\": [");
    page_add_numbers(moved, (size_t)p->problem.count, out);
    text_add(out, "],\n\"reason\": [");
    for (int32_t i = 0; i < p->problem.count; i++) {
        if (i) text_add(out, ",");
        if (p->reason[i])
            page_add_name(out, p->reason[i]);
        else
            text_add(out, "0");
    }
    text_add(out, "]},\n");
}

/* Pools as bands of one axis of addresses, and lives of buffers with several. */
static void page_add_pools(const struct lx_plan *p, const struct bands *b, struct text *out)
{
    text_add(out, "\"bands\": [");
    for (int32_t k = 0; k < b->count; k++) {
        const struct band *band = &b->at[k];
        text_add(out, k ? ", {\"name\": " : "{\"name\": ");
        page_add_name(out, band->name);
        text_format(out, ", \"base\": %" PRId64 ", \"shown\": %" PRId64 ", \"capacity\": %" PRId64 "}",
                    band->base, band->shown, band->capacity);
    }
    text_add(out, "],\n\"lives\": {");
    const char *between = "";
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *buffer = &p->problem.buffers[i];
        if (lx_life_count(buffer) < 2) continue;
        text_format(out, "%s\"%d\": [", between, (int)i);
        for (int32_t k = 0; k < lx_life_count(buffer); k++)
            text_format(out, "%s[%" PRId64 ", %" PRId64 "]", k ? ", " : "", lx_life_at(buffer, k).start,
                        lx_life_at(buffer, k).end);
        text_add(out, "]");
        between = ", ";
    }
    text_add(out, "},\n");
}

static void page_add_division(const struct lx_plan *p, const struct lx_division *d, struct text *out)
{
    text_add(out, ", \"cuts\": [");
    for (int k = 0; k < d->split_count; k++) {
        const struct lx_split *s = &d->splits[k];
        text_format(out,
                    "%s{\"letter\": \"%c\", \"extent\": %" PRId64 ", \"cut\": %" PRId64 ", \"per\": %" PRId64
                    ", \"stride\": %" PRId64 ", \"level\": %d}",
                    k ? ", " : "", s->letter, s->extent, s->split, s->per_core, lx_division_stride(d, k),
                    nest_level_of(p, d->op, s->letter));
    }
    text_add(out, "], \"views\": [");
    for (int k = 0; k < d->operand_count; k++) {
        if (k) text_add(out, ", ");
        const struct lx_operand_span *span = &d->operands[k];
        struct lx_core_view v = lx_division_view(p->divisions, d->op, k);
        text_add(out, "{\"name\": ");
        page_add_name(out, p->layouts->graph->tensors[span->tensor].name);
        text_format(out, ", \"how\": \"%s, %s\", \"bytes\": %" PRId64 ", \"partial\": %s, \"slices\": [",
                    k >= p->layouts->graph->ops[d->op].input_count ? "written" : "read",
                    lx_plan_place(p, d->op, k) >= 0 ? "on chip" : "HBM", span->core_bytes,
                    v.partial ? "true" : "false");
        page_add_numbers(v.slices, (size_t)v.rank, out);
        text_add(out, "], \"stride\": [");
        for (int i = 0; i < v.rank; i++)
            text_format(out, i ? ",%" PRId64 : "%" PRId64, v.stride[i] > 0 ? v.stride[i] : 1);
        text_add(out, "]}");
    }
    text_add(out, "]");
}

static void page_add_ops(const struct lx_plan *p, struct text *out)
{
    const struct lx_graph *g = p->layouts ? p->layouts->graph : NULL;
    text_add(out, "\"ops\": [");
    for (int32_t i = 0; g && i < g->op_count; i++) {
        const struct lx_op_traffic *t = &p->traffic[i];
        text_add(out, i ? ",\n{\"name\": " : "\n{\"name\": ");
        page_add_name(out, g->ops[i].name);
        text_format(out, ", \"tick\": %d, \"kind\": ", (int)i);
        text_json_string(out, g->ops[i].kind->name);
        text_add(out, ", \"einsum\": ");
        page_add_name(out, g->ops[i].einsum);
        text_format(out,
                    ", \"hbm\": %" PRId64 ", \"lx\": %" PRId64 ", \"ring\": %" PRId64
                    ", \"us\": %.9g, \"cores\": %" PRId64,
                    t->hbm_read + t->hbm_written, t->lx_read + t->lx_written, t->ring + t->reduce_ring,
                    t->device_us, p->divisions ? p->divisions->at[i].cores_used : t->cores);
        if (p->divisions && i < p->divisions->count) page_add_division(p, &p->divisions->at[i], out);
        text_add(out, "}");
    }
    text_add(out, "],\n");
}

/* Loops of each nest, and the words of each tile in its first iteration. */
static void page_add_nests(const struct lx_plan *p, struct text *out)
{
    text_add(out, "\"nests\": [");
    for (int32_t i = 0; i < p->nest_count; i++) {
        const struct lx_nest *n = &p->nests[i];
        text_format(out, "%s{\"first\": %d, \"last\": %d, \"words\": \"", i ? ", " : "", (int)n->first,
                    (int)n->last);
        add_nest_words(p, n, out);
        text_add(out, "\", \"levels\": [");
        for (int l = 0; l < n->level_count; l++)
            text_format(out, "%s{\"letter\": \"%c\", \"tiles\": %" PRId64 ", \"each\": %" PRId64 "}",
                        l ? ", " : "", nest_axis_letter(p, n, l), n->tiles[l], nest_tile_extent(p, n, l));
        text_add(out, "]}");
    }
    text_add(out, "],\n\"tiles\": {");
    const char *between = "";
    for (int32_t i = 0; i < p->problem.count; i++) {
        struct text words = {0};
        if (page_number(p, i, NEST) < 0) continue;
        add_tile_copies(p, i, &words);
        text_format(out, "%s\"%d\": ", between, (int)i);
        text_json_string(out, words.at ? words.at : "");
        text_free(&words);
        between = ", ";
    }
    text_add(out, "},\n");
}

/* The plan as a story, and the command to make it again. */
static void page_add_remarks(const struct lx_plan *p, struct text *out)
{
    SCOPED(text_free) struct text again = {0};
    SCOPED(story_free) struct story story;
    story_make(p, &story);
    text_add(out, "\"words\": [");
    for (int i = 0; i < story.count; i++) {
        text_format(&story.at[i].sentence, " (lxplan %s)", story.at[i].shown_by);
        text_json_string(out, story.at[i].sentence.at);
        text_add(out, ", ");
    }
    text_format(&again, "pattern %s; lxplan %s; to plan it again: ", p->graph->hash_word, page_version);
    add_command_words(p, &again);
    text_json_string(out, again.at ? again.at : "");
    text_add(out, "],\n");
}

static void page_add_plan(const struct lx_plan *p, const struct lx_occupancy *o, int64_t top,
                          struct text *out)
{
    const struct lx_device *d = &p->graph->device;
    SCOPED(text_free) struct text subtitle = {0};
    text_format(&subtitle, "%s: %s", p->solver, verdict_words(p));
    if (!p->graph->list) text_format(&subtitle, ", %s", d->preset);
    if (p->graph->summary && *p->graph->summary) text_format(&subtitle, ". %s", p->graph->summary);
    text_add(out, "{\"lxplan\": 1, \"kind\": \"page\", \"name\": ");
    page_add_name(out, p->graph->name);
    text_add(out, ", \"subtitle\": ");
    page_add_name(out, subtitle.at ? subtitle.at : "");
    text_format(out, ",\n\"is_list\": %s, \"hbm\": %" PRId64 ", \"capacity\": %" PRId64 ", \"top\": %" PRId64,
                p->graph->list ? "true" : "false", p->figures.hbm_bytes,
                p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->problem.capacity,
                max_i64(top, 1));
    text_format(out,
                ", \"first\": %" PRId64 ", \"last\": %" PRId64 ", \"peak\": %" PRId64
                ", \"peak_tick\": %" PRId64,
                o->first, max_i64(o->last, o->first + 1), o->peak, o->peak_tick);
    text_format(out, ", \"cores\": %" PRId64 ", \"grid_x\": %" PRId64 ",\n", p->graph->list ? 0 : d->cores,
                max_i64(d->grid_x > 8 && d->grid_y == 1 ? 8 : d->grid_x, 1));
}

void plan_page(const struct lx_plan *p, const struct lx_plan *other, const char *remedies, struct text *out)
{
    SCOPED(lx_occupancy_free) struct lx_occupancy o = {0};
    SCOPED(bands_free) struct bands bands = {0};
    SCOPED(text_free) struct text json = {0}, still = {0};
    lx_occupancy_make(p, LX_ALL_POOLS, &o);
    bands_make(p, &bands);
    page_add_plan(p, &o, bands.top, &json);
    page_add_facts(p, other, o.peak, &json);
    page_add_remarks(p, &json);
    page_add_pools(p, &bands, &json);
    text_add(&json, "\"use\": {\"tick\": [");
    page_add_numbers(o.tick, o.count, &json);
    text_add(&json, "], \"bytes\": [");
    page_add_numbers(o.bytes, o.count, &json);
    text_add(&json, "]},\n");
    page_add_buffers(p, &json);
    page_add_ops(p, &json);
    page_add_nests(p, &json);
    text_format(&json, "\"remedies\": %s}\n", remedies ? remedies : "null");
    add_still(p, other, &still);
    html_page(p->graph->name, html_plan_js, &json, &still, out);
}

bool html_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    (void)st;
    plan_page(p, other, NULL, out);
    return true;
}
