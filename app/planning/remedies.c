/* Lists what could be done otherwise, by the tables of the library: a solver, a pass or a size that is new
 * there is a row here without a word more. */
#include "planning/remedies.h"
#include "export/nest_words.h"
#include "text/format.h"

/* Is the scratchpad the limit? */
static bool remedies_full(const struct lx_plan *p)
{
    return p->figures.spill_bytes > 0 && 2 * p->figures.height_bytes >= p->problem.capacity;
}

static void remedies_push(struct remedies *r, const struct remedy_sort *sort, struct remedy it)
{
    it.sort = sort;
    it.state = REMEDY_OPEN;
    if (!it.promise) it.promise = remedies_full(r->plan) ? sort->if_full : sort->promise;
    it.order = (int)r->all.count;
    VEC_PUSH(&r->all, it);
}

/* The options with one row set otherwise; false: it cannot be. */
static bool remedies_changed(const struct remedies *r, int row, const char *text, struct remedy *out)
{
    *out = (struct remedy){.options = r->asked};
    return lx_settings_set_row(&out->options, row, text, NULL);
}

static void list_solvers(struct remedies *r, const struct remedy_sort *sort)
{
    for (const struct lx_solver *const *s = r->asked.solvers; *s; s++) {
        struct remedy it;
        if (strcmp((*s)->name, r->plan->solver) == 0 || !lx_can(*s, r->plan->problem.objective)) continue;
        if (!remedies_changed(r, LX_OPTION_SOLVER, (*s)->name, &it)) continue;
        snprintf(it.what, sizeof it.what, "-s %.80s", (*s)->name);
        snprintf(it.note, sizeof it.note, "%.*s", (int)strcspn((*s)->summary, ":;"), (*s)->summary);
        remedies_push(r, sort, it);
    }
}

/* Passes that help more often than others: with room in the scratchpad, and where it is full. */
static const struct {
    const char *name;
    int promise, if_full;
} promising[] = {{"cooptimise", 9, 8}, {"tile", 7, 9}, {"matmul", 9, 4}, {"evict", 1, 7}, {"move", 1, 6}};

static int pass_promise(const struct remedies *r, const char *name, const char *word)
{
    for (size_t i = 0; i < sizeof promising / sizeof *promising; i++)
        if (strcmp(promising[i].name, name) == 0 && strcmp(word, "flip") != 0 &&
            !(strcmp(name, "cooptimise") == 0 && strcmp(word, "none") == 0))
            return remedies_full(r->plan) ? promising[i].if_full : promising[i].promise;
    return 0;
}

/* Each value of each pass but the present one. How much may be on chip at all is a question of its own. */
static void list_passes(struct remedies *r, const struct remedy_sort *sort)
{
    struct lx_settings with = r->asked;
    (void)lx_settings_take_passes(&with, r->plan->graph, NULL); /* the plan has them, so they are known */
    struct lx_passes now = lx_settings_passes(&with);
    int row = LX_OPTION_PASSES;
    for (const struct lx_pass *p = lx_passes(); p->name && !r->plan->graph->list; p++, row++) {
        struct lx_option_row option = lx_settings_at(row);
        const char *word, *help = option.help ? option.help : "";
        bool is_switch = option.kind == LX_TAKES_NOTHING;
        for (int v = 0; strcmp(p->name, "stage") != 0 && (word = lx_settings_word(&r->asked, row, v)); v++) {
            struct remedy it;
            if (v == lx_pass_get(&now, p) || !remedies_changed(r, row, word, &it)) continue;
            snprintf(it.what, sizeof it.what, "%s--%.40s%s%.40s", is_switch && !v ? "without " : "",
                     option.name, is_switch ? "" : " ", is_switch ? "" : word);
            if (!is_switch || v) /* the first words of the help */
                snprintf(it.note, sizeof it.note, "%s%.*s", strcmp(word, "none") != 0 ? "" : "without ",
                         (int)strcspn(help, ":;"), help);
            it.promise = pass_promise(r, p->name, word);
            remedies_push(r, sort, it);
        }
    }
}

/* Pools have capacities of their own, and a height has none. */
static void list_lx(struct remedies *r, const struct remedy_sort *sort)
{
    const struct lx_plan *p = r->plan;
    bool named = r->name && r->presence != PRESENCE_YES;
    if (lx_graph_pools(p->graph) > 1 || p->problem.objective == LX_HEIGHT) return;
    for (int goal = named ? GOAL_BUFFER : GOAL_ALL; goal <= GOAL_ALL; goal++) {
        struct remedy it = {.options = r->asked, .goal = (enum remedy_goal)goal};
        snprintf(it.what, sizeof it.what, "--%s", lx_settings_at(LX_OPTION_LX).name);
        snprintf(it.note, sizeof it.note, "the least %s",
                 goal == GOAL_BUFFER ? "that keeps it on chip" : "with nothing spilled");
        remedies_push(r, sort, it);
    }
}

/* Bytes, time, or both: the objectives not asked for. */
static void list_objective(struct remedies *r, const struct remedy_sort *sort)
{
    static const struct {
        enum lx_ask ask;
        const char *note;
    } asks[] = {{LX_ASK_TRAFFIC, "least traffic regardless of time"},
                {LX_ASK_TIME, "least time regardless of traffic"},
                {LX_ASK_BALANCED, "least traffic at most 1.1 times as slow as the fastest"}};
    const struct lx_plan *p = r->plan;
    enum lx_ask now = p->balanced ? LX_ASK_BALANCED : p->asks_time ? LX_ASK_TIME : LX_ASK_TRAFFIC;
    for (size_t i = 0; i < sizeof asks / sizeof *asks && !p->graph->list; i++) {
        struct remedy it;
        const char *word = lx_ask_word(asks[i].ask);
        if (asks[i].ask == now || !remedies_changed(r, LX_OPTION_OBJECTIVE, word, &it)) continue;
        /* By bytes alone fewer splits are searched than in both together. */
        bool splits = asks[i].ask == LX_ASK_TRAFFIC && p->joint.searched &&
                      lx_settings_set(&it.options, "cooptimise", "full", NULL);
        snprintf(it.what, sizeof it.what, "--%s %s%s", lx_settings_at(LX_OPTION_OBJECTIVE).name, word,
                 splits ? " --cooptimise full" : "");
        snprintf(it.note, sizeof it.note, "%s", asks[i].note);
        if (asks[i].ask == LX_ASK_TRAFFIC && p->fewer_bytes > 0) it.promise = REMEDY_KNOWN;
        remedies_push(r, sort, it);
    }
}

static void list_cores(struct remedies *r, const struct remedy_sort *sort)
{
    const struct lx_device *device = &r->plan->graph->device;
    int64_t counts[] = {device->cores / 2, device->cores * 2};
    for (int i = 0; i < 2 && !r->plan->graph->list; i++) {
        char text[24];
        struct remedy it;
        snprintf(text, sizeof text, "%lld", (long long)counts[i]);
        if (!lx_cores_valid(device, counts[i], NULL) || !remedies_changed(r, LX_OPTION_CORES, text, &it))
            continue;
        snprintf(it.what, sizeof it.what, "--%s %s", lx_settings_at(LX_OPTION_CORES).name, text);
        snprintf(it.note, sizeof it.note, i ? "twice the cores" : "half the cores");
        remedies_push(r, sort, it);
    }
}

/* "scores=s/8,t/4" of a division; false: the op is not one of the pattern's, or its name has no place in an
 * option. */
static bool add_hint(const struct lx_plan *p, int32_t op, const int64_t *splits, struct text *out)
{
    const struct lx_division *now = &p->divisions->at[op];
    const char *name = p->layouts->graph->ops[op].name, *before = "=";
    bool known = false;
    for (int32_t i = 0; i < p->graph->op_count; i++) known |= strcmp(p->graph->ops[i].name, name) == 0;
    if (!known || strpbrk(name, " =") || now->split_count == 0) return false;
    text_add(out, name);
    for (int i = 0; i < now->split_count; i++) {
        if (splits[i] == 1) continue;
        text_format(out, "%s%c/%lld", before, now->splits[i].letter, (long long)splits[i]);
        before = ",";
    }
    if (*before == '=') text_format(out, "=%c/1", now->splits[0].letter);
    return out->length < 100;
}

/* Of "scores=s/8,t/4" or "scores=lx"; false: it is none. */
static bool remedies_hint(const struct remedies *r, const char *text, struct remedy *out)
{
    if (!remedies_changed(r, LX_OPTION_HINT, text, out)) return false;
    snprintf(out->what, sizeof out->what, "--%.8s %.100s", lx_settings_at(LX_OPTION_HINT).name, text);
    return true;
}

/* The option that divides op `op` so; false: there is none. */
static bool remedies_split(const struct remedies *r, int32_t op, const int64_t *splits, struct remedy *out)
{
    SCOPED(text_free) struct text text = {0};
    bool can = add_hint(r->plan, op, splits, &text) && remedies_hint(r, text.at, out);
    return can;
}

/* Other divisions of `op` that its operand, a tensor that `other` cuts, could gain by. */
static void list_op_divisions(struct remedies *r, const struct remedy_sort *sort, int32_t op, int operand,
                              int32_t other, int its_operand)
{
    const struct lx_plan *p = r->plan;
    struct lx_other_divisions found;
    struct lx_core_view like = {0};
    if (other >= 0) like = lx_division_view(p->divisions, other, its_operand);
    lx_divisions_for_operand(p->divisions, op, operand, other >= 0 ? &like : NULL, &found);
    for (int i = 0; i < found.count; i++) {
        struct remedy it;
        if (!remedies_split(r, op, found.at[i].splits, &it)) continue;
        if (found.at[i].agrees)
            snprintf(it.note, sizeof it.note, "another split: as op %.60s has it",
                     p->layouts->graph->ops[other].name);
        else
            snprintf(it.note, sizeof it.note, "another split: less of it per core");
        remedies_push(r, sort, it);
    }
}

/* The buffer's tensor, else the intermediate that moves most; -1: none. */
static int32_t tensor_asked(const struct remedies *r)
{
    const struct lx_plan *p = r->plan;
    OWNED int64_t *moved = mem_alloc(((size_t)p->problem.count + 1) * sizeof *moved);
    int32_t found = -1;
    lx_plan_moved(p, moved);
    for (int32_t i = 0; i < p->problem.count; i++) {
        bool counts = p->layouts->graph->tensors[p->stays[i].tensor].role == LX_INTERMEDIATE && moved[i] > 0;
        if (r->name ? strcmp(p->problem.buffers[i].name, r->name) == 0
                    : counts && (found < 0 || moved[i] > moved[found]))
            found = i;
    }
    return found < 0 ? -1 : p->stays[found].tensor;
}

/* The first few readers, divided as the writer cuts it, and the writer, as the first reader does. */
static void list_divisions(struct remedies *r, const struct remedy_sort *sort)
{
    enum { MOST_READERS = 2 };
    const struct lx_graph *g = r->plan->layouts ? r->plan->layouts->graph : NULL;
    int32_t tensor = g && r->plan->stays ? tensor_asked(r) : -1, writer = -1, first = -1, readers = 0;
    int first_operand = 0;
    for (int32_t o = 0; tensor >= 0 && o < g->op_count; o++) {
        if (op_operand_made(&g->ops[o], tensor) >= 0) writer = o;
        for (int k = 0; k < g->ops[o].input_count && readers < MOST_READERS; k++) {
            if (g->ops[o].inputs[k] != tensor) continue;
            list_op_divisions(r, sort, o, k, writer,
                              writer < 0 ? 0 : op_operand_made(&g->ops[writer], tensor));
            if (readers++ == 0) first = o, first_operand = k;
        }
    }
    if (writer >= 0)
        list_op_divisions(r, sort, writer, op_operand_made(&g->ops[writer], tensor), first, first_operand);
}

/* One level of a nest cut into twice or half as many tiles, if that is a nest. */
static void list_count(struct remedies *r, const struct remedy_sort *sort, int32_t nest, int level, bool more)
{
    const struct lx_plan *p = r->plan;
    struct lx_nest other = p->nests[nest];
    SCOPED(text_free) struct text text = {0};
    struct remedy it;
    lx_status st;
    other.tiles[level] = more ? 2 * other.tiles[level] : other.tiles[level] / 2;
    if (!nest_valid(p->layouts, &other, &st)) return;
    /* All nests of the plan as --nests takes them, one of them with other counts. */
    for (int32_t i = 0; i < p->nest_count; i++) {
        if (i) text_add(&text, ";");
        add_nest_option(p, &p->nests[i], i == nest ? other.tiles : NULL, &text);
    }
    bool can = text.length < 100 && remedies_changed(r, LX_OPTION_NESTS, text.at, &it);
    if (can) {
        snprintf(it.what, sizeof it.what, "--%.8s \"%.100s\"", lx_settings_at(LX_OPTION_NESTS).name, text.at);
        snprintf(it.note, sizeof it.note, "nest %d in %s tiles over %c", (int)nest + 1,
                 more ? "more" : "fewer", nest_axis_letter(p, &other, level));
    }
    if (can) remedies_push(r, sort, it);
}

/* Other counts of the nest in question: the first that accesses the tensor, else the one with most
 * iterations. Ops are named by their ticks, which hold where none was moved or written anew. */
static void remedies_list_nests(struct remedies *r, const struct remedy_sort *sort)
{
    const struct lx_plan *p = r->plan;
    int32_t tensor = r->name && p->nest_count > 0 ? tensor_asked(r) : -1, nest = -1;
    if (p->order || p->graph->came_from) return;
    for (int32_t i = 0; i < p->nest_count; i++) {
        bool accessed = tensor >= 0 && nest_tensor_of(p->layouts, &p->nests[i], tensor).accessed;
        if (accessed || nest < 0 || nest_iterations(&p->nests[i]) > nest_iterations(&p->nests[nest]))
            nest = i;
        if (accessed) break;
    }
    for (int l = 0; nest >= 0 && l < p->nests[nest].level_count; l++) {
        list_count(r, sort, nest, l, true);
        list_count(r, sort, nest, l, false);
    }
}

/* clang-format off */
static const struct remedy_sort sorts[] = {
    {"solver",      1, 1, 5, list_solvers,        try_once},
    {"scratchpad", 12, 2, 6, list_lx,             search_lx},
    {"cores",       1, 3, 4, list_cores,          try_once},
    {"objective",   3, 8, 8, list_objective,      try_once},
    {"division",    1, 6, 5, list_divisions,      try_once},
    {"nest",        1, 5, 5, remedies_list_nests, try_once},
    {"pass",        2, 2, 3, list_passes,         try_once},
};
/* clang-format on */
enum { BY_DIVISION = 4 };

bool buffer_is_compulsory(const struct lx_plan *p, int32_t i, const int64_t *moved)
{
    return p->stays && p->reason && p->reason[i] &&
           strncmp(p->reason[i], "compulsory", strlen("compulsory")) == 0 &&
           moved[i] <= lx_layout_bytes(&p->layouts->layouts[p->stays[i].tensor]);
}

static bool remedies_compulsory(const struct lx_plan *p, const char *name)
{
    bool found = false;
    OWNED int64_t *moved = mem_alloc(((size_t)p->problem.count + 1) * sizeof *moved);
    lx_plan_moved(p, moved);
    for (int32_t i = 0; name && i < p->problem.count; i++)
        if (strcmp(p->problem.buffers[i].name, name) == 0) found = buffer_is_compulsory(p, i, moved);
    return found;
}

static int remedies_compare(const void *left, const void *right)
{
    const struct remedy *a = left, *b = right;
    return a->promise != b->promise ? b->promise - a->promise : a->order - b->order;
}

void remedies_list(const struct lx_plan *p, const struct lx_settings *asked, const char *name,
                   struct remedies *out)
{
    *out = (struct remedies){.plan = lx_plan_ref(p),
                             .asked = *asked,
                             .presence = presence_in(p, name),
                             .by = p->asks_time ? REMEDY_BY_TIME : REMEDY_BY_BYTES,
                             .compulsory = remedies_compulsory(p, name)};
    if (name) out->name = mem_string(name);
    for (size_t i = 0; !out->compulsory && i < sizeof sorts / sizeof *sorts; i++)
        sorts[i].list(out, &sorts[i]);
    if (out->all.count) qsort(out->all.at, out->all.count, sizeof *out->all.at, remedies_compare);
    for (size_t i = 0; i < out->all.count; i++) out->all.at[i].order = (int)i;
}

bool remedies_push_split(struct remedies *r, int32_t op, const int64_t *splits)
{
    struct remedy it;
    if (!remedies_split(r, op, splits, &it)) return false;
    remedies_push(r, &sorts[BY_DIVISION], it);
    return true;
}

bool remedies_push_place(struct remedies *r, const char *tensor)
{
    struct remedy it;
    SCOPED(text_free) struct text text = {0};
    text_format(&text, "%s=lx", tensor);
    bool can = !strpbrk(tensor, " =") && remedies_hint(r, text.at, &it);
    if (can) remedies_push(r, &sorts[BY_DIVISION], it);
    return can;
}

void remedies_carry(struct remedies *to, struct remedies *from)
{
    for (size_t i = 0; i < to->all.count; i++)
        for (size_t k = 0; k < from->all.count; k++) {
            struct remedy *new = &to->all.at[i], *old = &from->all.at[k];
            if (old->goal != new->goal || old->state > REMEDY_CUT ||
                !(old->made || (!to->name && old->goal == GOAL_NONE)) ||
                !lx_settings_same(&old->options, &new->options))
                continue;
            int order = new->order;
            *new = *old;
            new->order = order;
            new->presence = old->made    ? presence_in(old->made, to->name)
                            : old->spill ? PRESENCE_NO
                                         : PRESENCE_YES;
            old->made = NULL;
        }
}

void remedies_free(struct remedies *r)
{
    for (size_t i = 0; i < r->all.count; i++) lx_plan_free(r->all.at[i].made);
    lx_plan_free(r->plan);
    mem_free(r->name);
    VEC_FREE(&r->all);
    *r = (struct remedies){0};
}

int64_t remedy_rank(const struct remedy *it, enum remedy_by by)
{
    return by == REMEDY_BY_TIME    ? (int64_t)llround(it->us * 1e3)
           : by == REMEDY_BY_SYNCS ? it->syncs
                                   : it->value;
}

bool remedy_helps(const struct remedies *r, const struct remedy *it)
{
    struct remedy now = {.value = lx_plan_value(r->plan),
                         .us = r->plan->figures.end_to_end_us,
                         .syncs = r->plan->figures.sync_times};
    int64_t rank = remedy_rank(it, r->by), than = remedy_rank(&now, r->by);
    return it->state <= REMEDY_CUT && (rank < than || (rank == than && it->presence > r->presence));
}

bool remedy_fits(const struct remedy *it, const struct lx_plan *p)
{
    return it->cores == p->graph->device.cores && it->capacity == p->problem.capacity;
}

/* By insertion: there are few. */
void remedies_sort(struct remedies *r)
{
    for (size_t i = 1; i < r->all.count; i++) {
        struct remedy it = r->all.at[i];
        size_t k = i;
        for (; k > 0; k--) {
            const struct remedy *b = &r->all.at[k - 1];
            bool has = it.state <= REMEDY_CUT, has_b = b->state <= REMEDY_CUT;
            int64_t rank = remedy_rank(&it, r->by), rank_b = remedy_rank(b, r->by);
            bool before = has != has_b                                   ? has
                          : has && rank != rank_b                        ? rank < rank_b
                          : has && r->name && it.presence != b->presence ? it.presence > b->presence
                          : has && it.us != b->us                        ? it.us < b->us
                          : has && it.value != b->value                  ? it.value < b->value
                          : has && it.syncs != b->syncs                  ? it.syncs < b->syncs
                          : has && it.capacity != b->capacity            ? it.capacity < b->capacity
                                                                         : it.order < b->order;
            if (!before) break;
            r->all.at[k] = *b;
        }
        r->all.at[k] = it;
    }
    for (size_t i = 1; i < r->all.count; i++) { /* one scratchpad for two goals is one remedy */
        struct remedy *a = &r->all.at[i - 1], *b = a + 1;
        if (!a->goal || !b->goal || a->state != REMEDY_TRIED || b->state != REMEDY_TRIED ||
            strcmp(a->what, b->what) != 0)
            continue;
        if (b->goal == GOAL_ALL) memcpy(a->note, b->note, sizeof a->note);
        lx_plan_free(b->made);
        memmove(b, b + 1, (--r->all.count - i) * sizeof *b);
    }
}

/* --- Remedies as a table: one row each, for a terminal and for the explorer. --- */

static const char *const presence_words[] = {
    [PRESENCE_NO] = "no", [PRESENCE_PART] = "in part", [PRESENCE_YES] = "yes"};

static bool has_figures(const struct remedy_row *row)
{
    return row->it->state <= REMEDY_CUT;
}

static int64_t delta_of(const struct remedy_row *row)
{
    return row->it->value - lx_plan_value(row->of->plan);
}

/* Its time was up before it was as good as the plan of now: what it moves in the end is not known. */
static bool is_unknown(const struct remedy_row *row)
{
    return row->it->state == REMEDY_CUT && delta_of(row) > 0;
}

static enum paint remedy_columns_paint_of(const struct remedy_row *row)
{
    int64_t delta = delta_of(row);
    return delta < 0 ? PAINT_GOOD : delta > 0 ? PAINT_BAD : PAINT_DIM;
}

/* clang-format off */
/* Why there are no figures. */
static const char *const remedy_state_words[] = {
    [REMEDY_TRIED] = "", [REMEDY_CUT] = "", [REMEDY_OPEN] = "...", [REMEDY_NONE] = "none",
    [REMEDY_FAILED] = "no plan", [REMEDY_STOPPED] = "stopped", [REMEDY_LARGE] = "too large"};

VALUE_OF(remedy_columns_value_of, struct remedy_row,
    v->paint = has_figures(row) ? PAINT_PLAIN : PAINT_DIM;
    v->number = NAN;
    v->words = has_figures(row) ? NULL : remedy_state_words[row->it->state];
    if (has_figures(row)) value_whole(v, row->it->value);
    if (row->it->state == REMEDY_CUT)
        value_format(v, "%s %s", remedy_may_grow(row->it) ? "~" : "<=", grouped(row->it->value).at);)
VALUE_OF(delta_value, struct remedy_row,
    v->words = is_unknown(row) ? "?" : "";
    v->number = NAN;
    v->paint = has_figures(row) && !is_unknown(row) ? remedy_columns_paint_of(row) : PAINT_DIM;
    if (!has_figures(row) || is_unknown(row)) return;
    value_whole(v, delta_of(row));
    v->words = delta_of(row) ? NULL : "=";
    if (delta_of(row) > 0) value_format(v, "+%s", grouped(delta_of(row)).at);)
/* A share of what there is now; none: it is the same. */
static void remedy_columns_add_share(struct value *v, double share, bool same, enum paint paint)
{
    v->paint = PAINT_DIM;
    v->words = "=";
    if (same) return;
    v->number = share;
    v->paint = paint;
    value_format(v, "%s%s", share > 0 ? "+" : "", in_percent(share).at);
}

VALUE_OF(remedy_columns_share_value, struct remedy_row,
    const double now = (double)lx_plan_value(row->of->plan);
    v->words = "";
    v->number = NAN;
    if (has_figures(row) && now != 0 && !is_unknown(row))
        remedy_columns_add_share(v, (double)delta_of(row) / now, delta_of(row) == 0, remedy_columns_paint_of(row));)
/* How much longer, or shorter, it takes from end to end. */
VALUE_OF(slower_value, struct remedy_row,
    const double now = row->of->plan->figures.end_to_end_us;
    const double change = now > 0 ? (row->it->us - now) / now : 0;
    v->words = "";
    v->number = NAN;
    if (!has_figures(row) || row->of->plan->graph->list) return;
    const bool may_be_faster = row->it->state == REMEDY_CUT && change > 0; /* in full */
    const bool same = may_be_faster || fabs(change) < 5e-4;
    remedy_columns_add_share(v, change, same, change > 0 ? PAINT_BAD : PAINT_GOOD);
    if (may_be_faster) v->words = "?";)
VALUE_OF(note_value, struct remedy_row,
    v->paint = PAINT_DIM;
    v->words = row->it->note;
    if (row->it->state == REMEDY_LARGE)
        value_format(v, "not tried unasked: too large; %s", row->it->note);
    if (row->it->state == REMEDY_NONE)
        value_format(v, "%s: there is none", row->it->note);)
VALUE_OF(remedy_columns_time_value, struct remedy_row,
    v->paint = row->of->by == REMEDY_BY_TIME ? PAINT_PLAIN : PAINT_DIM;
    v->number = NAN;
    v->words = "";
    if (!has_figures(row) || row->of->plan->graph->list) return;
    v->words = NULL;
    v->number = row->it->us;)
VALUE_OF(remedy_syncs_value, struct remedy_row,
    v->paint = row->of->by == REMEDY_BY_SYNCS ? PAINT_PLAIN : PAINT_DIM;
    v->number = NAN;
    v->words = "";
    if (!has_figures(row) || row->of->plan->graph->list) return;
    v->words = NULL;
    value_whole(v, row->it->syncs);)
VALUE_OF(presence_value, struct remedy_row,
    v->words = "";
    if (!has_figures(row) || !row->of->name) return;
    v->words = presence_words[row->it->presence];
    v->paint = row->it->presence == PRESENCE_YES ? PAINT_GOOD : PAINT_DIM;)
VALUE_OF(what_value, struct remedy_row, v->words = row->it->what; v->paint = has_figures(row) && delta_of(row) < 0 ? PAINT_HEADING : PAINT_PLAIN;)

static const struct column array[REMEDY_COLUMNS] = {
    [REMEDY_COLUMN_WHAT]     = {.key = "what",     .heading = "what",       .kind = VALUE_WORDS,  .width = 26, .value = what_value},
    [REMEDY_COLUMN_VALUE]    = {.key = "value",    .heading = "HBM bytes",  .kind = VALUE_BYTES,  .width = 14, .value = remedy_columns_value_of},
    [REMEDY_COLUMN_DELTA]    = {.key = "delta",    .heading = "delta",      .kind = VALUE_BYTES,  .width = 15, .from = REMEDY_WIDE, .value = delta_value},
    [REMEDY_COLUMN_SHARE]    = {.key = "share",    .heading = "%",          .kind = VALUE_SHARE,  .width = 8,  .from = 60, .value = remedy_columns_share_value},
    [REMEDY_COLUMN_SLOWER]   = {.key = "time_share", .heading = "time %",   .kind = VALUE_SHARE,  .width = 9,  .from = 50, .flags = COLUMN_MAY_HIDE, .value = slower_value},
    [REMEDY_COLUMN_SYNCS]    = {.key = "syncs",    .heading = "syncs",      .kind = VALUE_COUNT,  .width = 8,  .from = 84, .flags = COLUMN_MAY_HIDE, .value = remedy_syncs_value},
    [REMEDY_COLUMN_PRESENCE] = {.key = "on_chip",  .heading = "on chip",    .kind = VALUE_WORDS,  .width = 7,  .from = 40, .flags = COLUMN_MAY_HIDE, .value = presence_value},
    [REMEDY_COLUMN_TIME]     = {.key = "end_to_end_us", .heading = "end to end",    .kind = VALUE_MICROS, .width = 13, .from = 125, .flags = COLUMN_MAY_HIDE, .value = remedy_columns_time_value},
    [REMEDY_COLUMN_NOTE]     = {.key = "note",     .heading = "",           .kind = VALUE_WORDS,  .from = 90, .value = note_value},
};
/* clang-format on */

const struct columns remedy_columns = COLUMNS("remedies", array);

const char *remedy_value_heading(const struct lx_plan *p)
{
    if (p->problem.objective == LX_HEIGHT) return "height";
    return p->graph->list ? "cost" : "HBM bytes";
}
