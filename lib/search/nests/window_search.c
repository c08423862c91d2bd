/* Nests of a large graph, searched in windows of some dozen ops; equal windows are searched once. Kinds that
 * move most come first, and all get a first look before one is searched to its end: a cancelled search makes
 * one plan of its results. */
#include "search/nests/nest_search.h"

/* A kind of equal windows. */
struct window_kind {
    int32_t first; /* its first window */
    int64_t bytes; /* bytes that all its windows move before the search */
    bool help;     /* nests may help */
    struct search by;
    struct nest_menus menus;
    struct nest_search search;
};

struct windows {
    struct search *search;
    const struct effort *full; /* effort to solve the result once as a whole; NULL: the effort of a try */
    bool solved_in_full;
    struct nest_menus *menus;
    struct arena memory;
    struct nest_window *at;
    struct window_kind *kinds;
    int32_t *like; /* per window: first the first equal window; later, by sort_kinds, its kind */
    int32_t count, kind_count;
};

static void cut_windows(struct windows *w)
{
    enum { MOST_CUT = 40 };
    const struct draft *x = &w->search->best.draft;
    int32_t *last;
    nest_windows_cut(x, MOST_CUT, &w->memory, &last, &w->count);
    w->at = arena_array(&w->memory, (size_t)w->count, sizeof *w->at);
    w->like = arena_array(&w->memory, (size_t)w->count, sizeof *w->like);
    for (int32_t i = 0; i < w->count; i++) {
        nest_window_make(x, i ? last[i - 1] + 1 : 0, last[i], &w->memory, &w->at[i]);
        w->like[i] = i;
        for (int32_t k = 0; k < i && w->like[i] == i; k++)
            if (w->like[k] == k && nest_windows_alike(&w->at[k], &w->at[i])) w->like[i] = k;
        w->kind_count += w->like[i] == i;
    }
}

ORDER(window_search_by_bytes, struct window_kind, ORDER_DOWN(bytes) ORDER_UP(first));

/* Sorts kinds by the bytes they move; sets `like` to the kind of each window. */
static void sort_kinds(struct windows *w)
{
    int64_t *bytes = nest_op_bytes(&w->search->best, &w->memory);
    size_t windows = (size_t)w->count, count = 0;
    int32_t *kind = arena_array(&w->memory, windows, sizeof *kind);
    w->kinds = arena_array(&w->memory, (size_t)w->kind_count, sizeof *w->kinds);
    for (size_t i = 0; i < windows; i++) {
        if (w->like[i] == (int32_t)i) {
            kind[i] = (int32_t)count;
            w->kinds[count++].first = (int32_t)i;
        }
        int64_t sum = 0;
        for (int32_t o = w->at[i].first; o <= w->at[i].last; o++) sum += bytes[o];
        w->kinds[kind[w->like[i]]].bytes += sum;
    }
    qsort(w->kinds, count, sizeof *w->kinds, window_search_by_bytes);
    for (size_t k = 0; k < count; k++) kind[w->kinds[k].first] = (int32_t)k;
    for (size_t i = 0; i < windows; i++) w->like[i] = kind[w->like[i]];
}

/* Starts the search of one kind of window. */
static bool begin_window(struct windows *w, struct window_kind *k)
{
    const struct nest_window *at = &w->at[k->first];
    struct decisions how = {.passes = w->search->best.draft.how.passes};
    k->by = (struct search){.divided = &at->divided,
                            .request = w->search->request,
                            .effort = w->search->effort,
                            .whole = w->search,
                            .memory = w->search->memory,
                            .st = w->search->st};
    k->by.effort.run.progress = NULL; /* a window's bytes are not the plan's */
    k->menus.by_memory = w->menus->by_memory;
    k->menus.pays = w->menus->pays;
    if (!try_with(&k->by, DRAFTS_FEW, &how, &k->by.best)) return false;
    k->help = nests_help(&k->by.best.draft, false);
    return !k->help || nest_search_begin(&k->search, &k->by, &k->menus,
                                         nest_search_tries(&k->by, w->kind_count), ALL_ROOM);
}

/* A first look at each kind, then each to its end, unless the result is far above a known plan. */
static bool search_kinds(struct windows *w)
{
    bool ok = true;
    int32_t begun = 0;
    int64_t sum = 0, rival = w->search->rival_bytes;
    for (; ok && begun < w->kind_count && (begun == 0 || !search_is_over(w->search)); begun++)
        ok = begin_window(w, &w->kinds[begun]);
    for (int32_t i = 0; ok && i < begun && !search_is_over(w->search); i++) {
        sum = 0;
        for (int32_t k = 0; k < w->count; k++) sum += w->kinds[w->like[k]].by.best.hbm_bytes;
        if (rival > 0 && sum - rival > rival / 2) break;
        ok = !w->kinds[i].help || nest_search_end(&w->kinds[i].search);
        nest_menus_forget(&w->kinds[i].menus);
    }
    return ok && (begun == 0 || !w->kinds[0].help || nest_search_last(&w->kinds[0].by, &w->kinds[0].menus));
}

/* Joins the windows' nests in one plan; after a cancel with the last effort. */
static bool join_windows(struct windows *w)
{
    struct search *search = w->search, last = *search;
    bool over = search_is_over(search);
    struct nest_set all;
    struct attempt next;
    size_t ops = (size_t)search->divided->count;
    const struct lx_division **divided = arena_array(search->memory, ops, sizeof *divided);
    nest_set_of(&search->best.draft, w->menus, &w->memory, &all);
    if (all.how.divided) memcpy(divided, all.how.divided, ops * sizeof *divided);
    for (int32_t i = 0; i < w->count; i++)
        if (!nest_window_carry(&w->at[i], &search->best.draft, &w->kinds[w->like[i]].by.best.draft.how,
                               search->memory, &all, divided, search->st))
            return false;
    all.how.divided = divided;
    w->solved_in_full = w->full && all.nest_count > 0 && !over;
    if (over) last.effort = effort_last(search);
    if (w->solved_in_full)
        nest_set_plan_in_full(search, &all, w->full, &next);
    else
        nest_set_plan(&last, &all, false, &next);
    if (next.memory) nest_keep_better(&search->best, &next);
    return true;
}

bool nest_search_windows(struct search *search, struct nest_menus *menus, const struct effort *full,
                         bool *solved_in_full)
{
    struct windows w = {.search = search, .menus = menus, .full = full};
    cut_windows(&w);
    sort_kinds(&w);
    bool ok = search_kinds(&w) && join_windows(&w);
    *solved_in_full = w.solved_in_full;
    for (int32_t i = 0; w.kinds && i < w.kind_count; i++) {
        struct window_kind *k = &w.kinds[i];
        nest_search_free(&k->search);
        attempt_free(&k->by.best);
        nest_menus_free(&k->menus);
    }
    arena_free(&w.memory);
    return ok;
}
