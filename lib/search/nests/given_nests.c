/* Given nests: they are in the plan even at a loss. Holds, cuts and divisions inside them are searched as for
 * other nests; ops outside keep their divisions. */
#include "search/nests/nest_edits.h"
#include "search/search_steps.h"
#include "layout/op_index.h"
#include "search/time.h"

enum { MOST_NESTS = 64 };

/* One entry: where its run ends in the text, and its levels. */
struct asked {
    const char *text;
    int run; /* characters */
    int level_count;
    char letter[LX_MAX_LEVELS];
    int64_t tiles[LX_MAX_LEVELS];
};

static bool given_nests_bad(const char *text, lx_status *st, const char *why)
{
    return status_set(st, LX_E_USAGE,
                      "nests %.80s: %s; a nest is FIRST-LAST:VAR/T[,VAR/T], as in scores-mixed:h/16,s/64",
                      text, why);
}

/* Parses a run, a colon, and levels such as h/16. Names of ops may have colons; names of variables may
 * not. */
static bool read_entry(const char *text, struct asked *a, lx_status *st)
{
    const char *at = strrchr(text, ':');
    *a = (struct asked){.text = text};
    if (!at || at == text) return given_nests_bad(text, st, "it names no run of ops");
    a->run = (int)(at - text);
    do {
        int l = a->level_count++;
        char *end;
        if (l > 0 && *at != ',') return given_nests_bad(text, st, "levels stand with commas between them");
        if (l == LX_MAX_LEVELS) return given_nests_bad(text, st, "it has more than three levels");
        at++;
        if (!isalpha((unsigned char)*at) || at[1] != '/' || !isdigit((unsigned char)at[2]))
            return given_nests_bad(text, st, "behind the colon stand levels such as h/16");
        a->letter[l] = *at;
        a->tiles[l] = strtoll(at + 2, &end, 10);
        at = end;
        if (a->tiles[l] < 2 || a->tiles[l] > LX_MAX_ITEMS)
            return given_nests_bad(text, st, "a level has from 2 to 2^24 tiles");
        for (int k = 0; k < l; k++)
            if (a->letter[k] == a->letter[l]) return given_nests_bad(text, st, "two levels cut one variable");
    } while (*at);
    return true;
}

/* Appends an entry; replaces one with the same run. */
static bool given_nests_add_entry(char *all, const char *entry, lx_status *st)
{
    struct asked a;
    if (!read_entry(entry, &a, st)) return false;
    for (char *at = all; *at;) {
        size_t n = strcspn(at, ";"), rest = n + (at[n] == ';');
        if (n > (size_t)a.run && strncmp(at, entry, (size_t)a.run + 1) == 0)
            memmove(at, at + rest, strlen(at + rest) + 1);
        else
            at += rest;
    }
    size_t used = strlen(all), n = strlen(entry);
    if (used && all[used - 1] == ';') all[--used] = 0;
    if (used + n + 2 > LX_NESTS_TEXT)
        return status_set(st, LX_E_LIMIT, "more nests than there is room for (%d characters)",
                          (int)LX_NESTS_TEXT);
    if (used) all[used++] = ';';
    memcpy(all + used, entry, n + 1);
    return true;
}

bool nest_option_set(char list[LX_NESTS_TEXT], const char *text, lx_status *st)
{
    char all[LX_NESTS_TEXT], given[LX_NESTS_TEXT], *rest = given;
    bool ok = true, any = false;
    memcpy(all, list, sizeof all);
    if (strlen(text) >= sizeof given) return given_nests_bad(text, st, "it is too long");
    memcpy(given, text, strlen(text) + 1);
    for (char *entry; ok && (entry = strsep(&rest, ";"));)
        if (*entry) ok = given_nests_add_entry(all, entry, st), any = true;
    if (!any) return given_nests_bad(text, st, "it names no run of ops");
    if (ok) memcpy(list, all, sizeof all);
    return ok;
}

/* Finds an op by name, else by number; -1: none. */
static int32_t given_nests_find_op(const struct lx_graph *g, const char *name, size_t length)
{
    char *end;
    for (int32_t o = 0; o < g->op_count; o++)
        if (strlen(g->ops[o].name) == length && strncmp(g->ops[o].name, name, length) == 0) return o;
    if (length == 0 || !isdigit((unsigned char)*name)) return -1;
    long long number = strtoll(name, &end, 10);
    return end == name + length && number < g->op_count ? (int32_t)number : -1;
}

/* Parses a run of one op, or of two with a dash between them: names may have dashes. */
static bool given_nests_find_run(const struct lx_graph *g, const struct asked *a, struct lx_nest *n,
                                 lx_status *st)
{
    size_t length = (size_t)a->run;
    n->first = n->last = given_nests_find_op(g, a->text, length);
    for (size_t i = 1; n->first < 0 && i + 1 < length; i++) {
        if (a->text[i] != '-') continue;
        n->first = given_nests_find_op(g, a->text, i);
        n->last = given_nests_find_op(g, a->text + i + 1, length - i - 1);
        if (n->last < 0) n->first = -1;
    }
    if (n->first < 0)
        return status_set(st, LX_E_UNKNOWN_NAME,
                          "nests %.80s: %.*s are no two ops of the graph, by name or from 0 to %d; `--stage "
                          "layout` lists them as they run",
                          a->text, a->run, a->text, (int)g->op_count - 1);
    return n->first <= n->last ? true : given_nests_bad(a->text, st, "its first op runs after its last");
}

static bool no_axis(const struct lx_layouts *l, const struct asked *a, int32_t op, char letter,
                    const char *why, lx_status *st)
{
    const struct lx_op *o = &l->graph->ops[op];
    const char *never = nest_never_takes(l, op);
    if (never)
        return status_set_at(st, LX_E_NEST, l->graph->file, o->line, 1,
                             "nests %.80s: op %s can be in no nest: %s; end the run before it", a->text,
                             o->name, never);
    return status_set_at(st, LX_E_NEST, l->graph->file, o->line, 1,
                         "nests %.80s: %c is no axis that tiles could cut in op %s: %s; end the run before "
                         "it, or take another variable",
                         a->text, letter, o->name, why);
}

/* True if `tiles` of the level divide variable `v` in all operands of an op. */
static bool can_cut(const struct lx_layouts *l, const struct asked *a, int level, int32_t op,
                    const struct op_index *x, int v, lx_status *st)
{
    const struct lx_op *o = &l->graph->ops[op];
    if (x->extent[v] % a->tiles[level] != 0)
        return status_set_at(
            st, LX_E_NEST, l->graph->file, o->line, 1,
            "nests %.80s: %lld tiles do not divide the extent %lld of %c in op %s; ask for a divisor "
            "of it, or take another variable",
            a->text, (long long)a->tiles[level], (long long)x->extent[v], a->letter[level], o->name);
    for (int i = 0; i < x->operand_count; i++) {
        int32_t t = op_operand(o, i);
        int64_t sticks = nest_tile_basis(&l->layouts[t], op_index_dim(x, i, v));
        if (sticks % a->tiles[level] != 0) {
            /* The error depends on whether any tiles are possible. */
            const char *name = l->graph->tensors[t].name;
            if (sticks <= 1)
                return status_set_at(
                    st, LX_E_NEST, l->graph->file, l->graph->ops[op].line, 1,
                    "nests %.80s: tiles cannot cut %s along %c: it has one stick there, or the last one "
                    "is not full; take another variable",
                    a->text, name, a->letter[level]);
            return status_set_at(
                st, LX_E_NEST, l->graph->file, l->graph->ops[op].line, 1,
                "nests %.80s: %lld tiles do not divide the %lld sticks of %s along %c; ask for a divisor "
                "of that, or take another variable",
                a->text, (long long)a->tiles[level], (long long)sticks, name, a->letter[level]);
        }
    }
    return true;
}

/* The run's variables for variable `v` of its first op; NULL: `*missed` is the first op without one, and `*why`
 * the reason. */
static const signed char *given_nests_axis_of(const struct lx_layouts *l, const struct lx_nest *n, int v,
                                              struct arena *memory, int32_t *missed, const char **why)
{
    struct axis_found found[MOST_AXES];
    struct axis_run *r = axis_run_begin(l, n->first, memory);
    const signed char *var = NULL;
    bool grows = true;
    for (int32_t o = n->first; grows && o <= n->last; o++) {
        grows = axis_run_grow(r);
        *missed = o;
        if (axis_run_last(r) < o) return NULL;
    }
    *why = axis_run_misses(r, v, missed);
    if (*why) return NULL;
    int count = axis_run_axes(r, found, memory);
    for (int i = 0; i < count; i++)
        if (found[i].var[0] == v) var = found[i].var;
    *why = "its ops and tensors have no common divisor but 1 there";
    return var;
}

static bool given_nests_set_level(const struct lx_layouts *l, const struct asked *a, int level,
                                  struct arena *memory, struct lx_nest *n, signed char (*var)[LX_MAX_LEVELS],
                                  lx_status *st)
{
    struct op_index x;
    int32_t missed = n->first;
    const char *why = "";
    int v = 0;
    op_index_of(l->graph, &l->graph->ops[n->first], &x);
    if (!x.known) return no_axis(l, a, n->first, a->letter[level], why, st);
    while (v < x.var_count && x.letter[v] != a->letter[level]) v++;
    if (v == x.var_count)
        return status_set_at(st, LX_E_NEST, l->graph->file, l->graph->ops[n->first].line, 1,
                             "nests %.80s: op %s, the first of the run, has no variable %c; it has %.*s",
                             a->text, l->graph->ops[n->first].name, a->letter[level], x.var_count, x.letter);
    if (op_index_tileable(&x, v) && !can_cut(l, a, level, n->first, &x, v, st)) return false;
    const signed char *axis = given_nests_axis_of(l, n, v, memory, &missed, &why);
    if (!axis) return no_axis(l, a, missed, a->letter[level], why, st);
    for (int32_t o = 0; o <= n->last - n->first; o++) var[o][level] = axis[o];
    return true;
}

static bool make_nest(const struct lx_layouts *l, const char *entry, struct arena *memory, struct lx_nest *n,
                      lx_status *st)
{
    struct asked a;
    lx_status why = {0};
    *n = (struct lx_nest){0};
    if (!read_entry(entry, &a, st) || !given_nests_find_run(l->graph, &a, n, st)) return false;
    signed char(*var)[LX_MAX_LEVELS] = arena_array(memory, (size_t)(n->last - n->first + 1), sizeof *var);
    n->var = (const signed char(*)[LX_MAX_LEVELS])var;
    for (int level = 0; level < a.level_count; level++) {
        if (!given_nests_set_level(l, &a, level, memory, n, var, st)) return false;
        n->tiles[n->level_count++] = a.tiles[level];
    }
    if (nest_valid(l, n, &why)) return true;
    return status_set_at(st, status_cause(&why, LX_E_NEST), why.file, why.line, why.column,
                         "nests %.80s: %.300s; ask for other tiles, another variable or another run", entry,
                         why.text);
}

ORDER(given_nests_by_time, struct lx_nest, ORDER_UP(first));

static bool nests_asked(const struct lx_layouts *l, const char *text, struct arena *memory,
                        struct lx_nest **out, int32_t *count, lx_status *st)
{
    char all[LX_NESTS_TEXT], *rest = all;
    struct lx_nest *nests = arena_array(memory, MOST_NESTS, sizeof *nests);
    bool ok = true;
    memcpy(all, text, strlen(text) + 1);
    *count = 0;
    for (char *entry; ok && (entry = strsep(&rest, ";"));) {
        if (*count == MOST_NESTS) return status_set(st, LX_E_LIMIT, "more than %d nests", MOST_NESTS);
        ok = make_nest(l, entry, memory, &nests[*count], st);
        ++*count;
    }
    if (!ok) return false;
    qsort(nests, (size_t)*count, sizeof *nests, given_nests_by_time);
    *out = nests;
    for (int32_t i = 1; i < *count; i++)
        if (nests[i].first <= nests[i - 1].last)
            return status_set(st, LX_E_NEST, "nests: op %s is in two of them; let one end before it",
                              l->graph->ops[nests[i].first].name);
    return true;
}

/* A step: makes a plan with the given nests; then searches their holds. The bound is the compulsory traffic.
 * Other engines run later; the engine of nests does not. */
bool nests_given(struct search *search)
{
    SCOPED(nest_menus_free) struct nest_menus menus = {.by_memory = asks_time(search)};
    SCOPED(arena_free) struct arena memory = {0};
    int32_t ops = search->best.draft.graph->op_count;
    int64_t tries = max_i64(60, min_i64(2000, 40000 / (ops + 1)));
    search->bound = asks_traffic(search) ? crossing_traffic(&search->best.draft) : 0;
    search->unproved =
        "not proved optimal: with nests asked for, the bound is the bytes that must cross once";
    search->bound_with_nests = true;
    search->skipped |= 1u << ENGINE_NESTS;
    struct nest_set s;
    struct attempt next = {0};
    nest_set_of(&search->best.draft, &menus, &memory, &s);
    bool ok = nests_asked(search->best.draft.layouts, search->request->nests, &memory, &s.nests,
                          &s.nest_count, search->st);
    s.hold_count = 0;
    ok = ok && nest_set_force(search, &s, &next);
    if (ok) replace_best(search, &next);
    if (ok && !search->effort.quick) nest_set_refine_holds(search, &menus, &tries);
    arena_adopt(search->memory, &menus.memory); /* decisions point to the divisions */
    search->bundles_limited = ok && asks_traffic(search) && bundles_are_limited(search);
    if (ok && asks_time(search)) search->bound_us = time_bound_divided(&search->best.draft, NULL);
    return ok;
}
