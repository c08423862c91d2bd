/* Lists what could be done otherwise, by the tables of the library: a solver, a pass or a size that is new there
 * is a row here without a word more. */
#include "planning/remedies.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "export/nest_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void remedies_push(struct remedies *r, const struct remedy_sort *sort, struct remedy it)
{
    it.sort = sort;
    it.state = r->plan->problem.count > sort->most ? REMEDY_LARGE : REMEDY_OPEN;
    it.order = (int)r->all.count;
    VEC_PUSH(&r->all, it);
}

/* The options with one row set otherwise; false: it cannot be. */
static bool remedies_changed(const struct remedies *r, int row, const char *text, struct remedy *out)
{
    *out = (struct remedy){.options = r->asked};
    return lx_settings_set_row(&out->options, row, text, NULL);
}

/* The first words of a help text, for a pass that is switched on or off. */
static void note_help(struct remedy *it, const char *help, bool done)
{
    snprintf(it->note, sizeof it->note, "%s%.*s", done ? "" : "without ",
             (int)strcspn(help ? help : "", ":;"), help ? help : "");
}

static void list_solvers(struct remedies *r, const struct remedy_sort *sort)
{
    for (const struct lx_solver *const *s = r->asked.solvers; *s; s++) {
        struct remedy it;
        if (strcmp((*s)->name, r->plan->solver) == 0 || !lx_can(*s, r->plan->problem.objective)) continue;
        if (!remedies_changed(r, LX_OPTION_SOLVER, (*s)->name, &it)) continue;
        snprintf(it.what, sizeof it.what, "-s %.80s", (*s)->name);
        note_help(&it, (*s)->summary, true);
        remedies_push(r, sort, it);
    }
}

static void list_pass_value(struct remedies *r, const struct remedy_sort *sort, int row, int value)
{
    const char *word = lx_settings_word(&r->asked, row, value), *name = lx_settings_at(row).name;
    bool is_switch = lx_settings_at(row).kind == LX_TAKES_NOTHING;
    struct remedy it;
    if (!word || !remedies_changed(r, row, word, &it)) return;
    snprintf(it.what, sizeof it.what, "%s--%.40s%s%.40s", is_switch && !value ? "without " : "", name,
             is_switch ? "" : " ", is_switch ? "" : word);
    if (!is_switch || value) note_help(&it, lx_settings_at(row).help, strcmp(word, "none") != 0);
    remedies_push(r, sort, it);
}

/* Each value of each pass but the present one. How much may be on chip at all is a question of its own. */
static void list_passes(struct remedies *r, const struct remedy_sort *sort)
{
    struct lx_passes now = lx_settings_passes(&r->asked);
    int row = LX_OPTION_PASSES;
    for (const struct lx_pass *p = lx_passes(); p->name && !r->plan->graph->list; p++, row++)
        for (int v = 0; strcmp(p->name, "stage") != 0 && lx_settings_word(&r->asked, row, v); v++)
            if (v != lx_pass_get(&now, p)) list_pass_value(r, sort, row, v);
}

static void list_goal(struct remedies *r, const struct remedy_sort *sort, enum remedy_goal goal)
{
    struct remedy it = {.options = r->asked, .goal = goal};
    snprintf(it.what, sizeof it.what, "--%s", lx_settings_at(LX_OPTION_LX).name);
    snprintf(it.note, sizeof it.note, "the least %s",
             goal == GOAL_BUFFER ? "that keeps it on chip" : "with nothing spilled");
    remedies_push(r, sort, it);
}

/* Pools have capacities of their own, and a height has none. */
static void list_lx(struct remedies *r, const struct remedy_sort *sort)
{
    const struct lx_plan *p = r->plan;
    if (lx_graph_pools(p->graph) > 1 || p->problem.objective == LX_HEIGHT) return;
    if (r->name && r->presence != PRESENCE_YES) list_goal(r, sort, GOAL_BUFFER);
    list_goal(r, sort, GOAL_ALL);
}

/* Bytes or time: whichever was not asked for. */
static void list_objective(struct remedies *r, const struct remedy_sort *sort)
{
    struct remedy it;
    const char *word = lx_ask_word(r->plan->asks_time ? LX_ASK_TRAFFIC : LX_ASK_TIME);
    if (r->plan->graph->list || !remedies_changed(r, LX_OPTION_OBJECTIVE, word, &it)) return;
    snprintf(it.what, sizeof it.what, "--%s %s", lx_settings_at(LX_OPTION_OBJECTIVE).name, word);
    snprintf(it.note, sizeof it.note,
             r->plan->asks_time ? "least traffic regardless of time" : "least time regardless of traffic");
    remedies_push(r, sort, it);
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

static bool is_of_pattern(const struct lx_plan *p, const char *op)
{
    for (int32_t i = 0; i < p->graph->op_count; i++)
        if (strcmp(p->graph->ops[i].name, op) == 0) return true;
    return false;
}

/* "scores=s/8,t/4" of a division; false: the op is not one of the pattern's, or its name has no place in an option. */
static bool add_hint(const struct lx_plan *p, int32_t op, const struct lx_other_division *d, struct text *out)
{
    const struct lx_division *now = &p->divisions->at[op];
    const char *name = p->layouts->graph->ops[op].name, *before = "=";
    if (!is_of_pattern(p, name) || strpbrk(name, " =") || now->split_count == 0) return false;
    text_add(out, name);
    for (int i = 0; i < now->split_count; i++) {
        if (d->splits[i] == 1) continue;
        text_format(out, "%s%c/%lld", before, now->splits[i].letter, (long long)d->splits[i]);
        before = ",";
    }
    if (*before == '=') text_format(out, "=%c/1", now->splits[0].letter);
    return out->length < 100;
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
        struct text text = {0};
        struct remedy it;
        bool can = add_hint(p, op, &found.at[i], &text) && remedies_changed(r, LX_OPTION_HINT, text.at, &it);
        if (can)
            snprintf(it.what, sizeof it.what, "--%.8s %.100s", lx_settings_at(LX_OPTION_HINT).name, text.at);
        text_free(&text);
        if (!can) continue;
        if (found.at[i].agrees)
            snprintf(it.note, sizeof it.note, "another split: as op %.60s has it",
                     p->layouts->graph->ops[other].name);
        else
            snprintf(it.note, sizeof it.note, "another split: less of it per core");
        remedies_push(r, sort, it);
    }
}

/* The intermediate buffer that moves most; -1: none moves anything. */
static int32_t busiest(const struct lx_plan *p)
{
    int64_t *moved = mem_alloc(((size_t)p->problem.count + 1) * sizeof *moved);
    int32_t best = -1;
    lx_plan_moved(p, moved);
    for (int32_t i = 0; i < p->problem.count; i++) {
        bool counts = p->layouts->graph->tensors[p->stays[i].tensor].role == LX_INTERMEDIATE && moved[i] > 0;
        if (counts && (best < 0 || moved[i] > moved[best])) best = i;
    }
    mem_free(moved);
    return best;
}

/* The buffer's tensor, else the intermediate that moves most; -1: none. */
static int32_t tensor_asked(const struct remedies *r)
{
    const struct lx_plan *p = r->plan;
    int32_t found = r->name ? -1 : busiest(p);
    for (int32_t i = 0; r->name && i < p->problem.count; i++)
        if (strcmp(p->problem.buffers[i].name, r->name) == 0) found = i;
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
    struct text text = {0};
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
    text_free(&text);
    if (can) remedies_push(r, sort, it);
}

/* The nest in question: the first that accesses the tensor, else the one with most iterations; -1: none. */
static int32_t nest_asked(const struct remedies *r)
{
    const struct lx_plan *p = r->plan;
    int32_t tensor = r->name && p->nest_count > 0 ? tensor_asked(r) : -1, most = -1;
    for (int32_t i = 0; i < p->nest_count; i++) {
        if (tensor >= 0 && nest_tensor_of(p->layouts, &p->nests[i], tensor).accessed) return i;
        if (most < 0 || nest_iterations(&p->nests[i]) > nest_iterations(&p->nests[most])) most = i;
    }
    return most;
}

/* Ops are named by their ticks, which hold where none was moved or written anew. */
static void remedies_list_nests(struct remedies *r, const struct remedy_sort *sort)
{
    int32_t nest = r->plan->order || r->plan->graph->came_from ? -1 : nest_asked(r);
    for (int l = 0; nest >= 0 && l < r->plan->nests[nest].level_count; l++) {
        list_count(r, sort, nest, l, true);
        list_count(r, sort, nest, l, false);
    }
}

/* In the order of listing; quick ones first. */
/* clang-format off */
static const struct remedy_sort sorts[] = {
    {"solver",     20000, list_solvers, try_once},
    {"scratchpad",  5000, list_lx,      search_lx},
    {"cores",      20000, list_cores,   try_once},
    {"objective",   5000, list_objective, try_once},
    {"division",    5000, list_divisions, try_once},
    {"nest",        5000, remedies_list_nests,   try_once},
    {"pass",        5000, list_passes,  try_once},
};
/* clang-format on */

void remedies_list(const struct lx_plan *p, const struct lx_settings *asked, const char *name,
                   struct remedies *out)
{
    *out = (struct remedies){.plan = lx_plan_ref(p), .asked = *asked, .presence = presence_in(p, name)};
    if (name) out->name = mem_string(name);
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) sorts[i].list(out, &sorts[i]);
}

void remedies_free(struct remedies *r)
{
    lx_plan_free(r->plan);
    mem_free(r->name);
    VEC_FREE(&r->all);
    *r = (struct remedies){0};
}

/* A buffer answers to its name, and all stays of a tensor to the tensor's. A plan with other cuts has other stays:
 * where there is no buffer "x#2", it is x that counts. */
static bool remedies_answers(const struct lx_plan *p, int32_t i, const char *name, size_t length)
{
    const char *own =
        p->stays ? p->layouts->graph->tensors[p->stays[i].tensor].name : p->problem.buffers[i].name;
    return strncmp(own, name, length) == 0 && !own[length];
}

/* Buffers that must stay in HBM do not count. */
enum presence presence_in(const struct lx_plan *p, const char *name)
{
    int32_t placed = 0, off = 0;
    if (!name) return p->figures.spill_bytes > 0 ? PRESENCE_NO : PRESENCE_YES;
    const char *number = p->stays ? strrchr(name, '#') : NULL;
    size_t length = strlen(name), stem = number && number > name ? (size_t)(number - name) : length;
    for (int32_t i = 0; i < p->problem.count; i++) {
        if (!remedies_answers(p, i, name, length) && !remedies_answers(p, i, name, stem)) continue;
        placed += p->answer.address[i] >= 0;
        off += p->answer.address[i] < 0 && !p->problem.buffers[i].reason;
    }
    return !placed ? PRESENCE_NO : off ? PRESENCE_PART : PRESENCE_YES;
}

const char *presence_word(enum presence p)
{
    static const char *const words[] = {
        [PRESENCE_NO] = "no", [PRESENCE_PART] = "in part", [PRESENCE_YES] = "yes"};
    return words[p];
}

/* The objective: bytes, or nanoseconds. */
static int64_t remedies_rank(const struct remedies *r, const struct remedy *it)
{
    return r->plan->asks_time ? (int64_t)llround(it->us * 1e3) : it->value;
}

bool remedy_helps(const struct remedies *r, const struct remedy *it)
{
    struct remedy now = {.value = lx_plan_value(r->plan), .us = r->plan->figures.end_to_end_us};
    return it->state <= REMEDY_CUT &&
           (remedies_rank(r, it) < remedies_rank(r, &now) ||
            (remedies_rank(r, it) == remedies_rank(r, &now) && it->presence > r->presence));
}

static bool remedies_goes_before(const struct remedies *r, const struct remedy *a, const struct remedy *b)
{
    bool has_a = a->state <= REMEDY_CUT, has_b = b->state <= REMEDY_CUT;
    if (has_a != has_b) return has_a;
    if (has_a && remedies_rank(r, a) != remedies_rank(r, b)) return remedies_rank(r, a) < remedies_rank(r, b);
    if (has_a && a->presence != b->presence) return a->presence > b->presence;
    if (has_a && a->us != b->us) return a->us < b->us;
    return a->order < b->order;
}

/* By insertion: there are few. */
void remedies_sort(struct remedies *r)
{
    for (size_t i = 1; i < r->all.count; i++) {
        struct remedy it = r->all.at[i];
        size_t k = i;
        for (; k > 0 && remedies_goes_before(r, &it, &r->all.at[k - 1]); k--) r->all.at[k] = r->all.at[k - 1];
        r->all.at[k] = it;
    }
}
