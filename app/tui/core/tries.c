/* Rows of remedies tried as jobs of the worker, drawn as a table and taken. */
#include "tui/core/explorer.h"

/* Polls for a row, in its first round and in its second; or so many times those of the plan of now. */
static const struct {
    int64_t polls, times;
} limits[] = {{50000, 2}, {20 * 50000, 12}};
/* Seconds that a row may be expected to take; longer ones are tried when they are asked for. */
static const double LONGEST = 10;
enum { ROUNDS = sizeof limits / sizeof *limits, WITHOUT_LIMIT = ROUNDS };

struct try_job {
    struct tries *tries; /* of a view */
    struct session *session;
    struct pattern_source *source;
    uint64_t number;
    int round;
    struct remedies of;       /* the question without rows */
    struct remedy it, listed; /* present and previous state */
};

void tries_run(void *data, void *watch)
{
    struct try_job *j = data;
    struct remedy_watch until = {watch_stop, watch, 0};
    if (j->round < ROUNDS)
        until.polls = max_i64(limits[j->round].polls, limits[j->round].times * j->of.plan->polls);
    SCOPED(source_content_free) struct source_content from = source_read(j->source);
    if (from.graph) {
        remedy_try(&j->of, &j->it, from.graph, &until);
    } else
        j->it.state = REMEDY_STOPPED;
}

static void tries_post(struct tries *t, struct session *s, const struct remedy *it, int round)
{
    struct try_job *j = mem_zeroed(1, sizeof *j);
    *j = (struct try_job){.tries = t,
                          .session = s,
                          .source = s->patterns.at[s->current].source,
                          .number = t->number,
                          .round = round,
                          .of = {.plan = lx_plan_ref(t->list.plan),
                                 .asked = t->list.asked,
                                 .name = t->list.name ? mem_string(t->list.name) : NULL,
                                 .presence = t->list.presence,
                                 .keeps = t->list.keeps},
                          .it = *it,
                          .listed = *it};
    j->it.state = REMEDY_OPEN;
    j->it.made = j->listed.made = NULL;
    int sort = round == WITHOUT_LIMIT ? TRY_ASKED : round ? TRY_AGAIN : TRY_FIRST;
    worker_post(s->worker, &t->work[sort], it->order, j);
}

void tries_sort(struct tries *t)
{
    if (!t->in_place) remedies_sort(&t->list);
    t->is_sorted = t->left == 0;
    t->moved = true;
}

/* "--tile none in full: 19,143,680 B in 177 us; cut short it had 20,000,000 B in 180 us" */
static void tries_tell(struct session *s, const struct remedy *cut, const struct remedy *full)
{
    bool same = cut->value == full->value && cut->us == full->us;
    text_free(&s->news);
    s->news_is_good = true;
    add_printable(&s->news, full->what, 60);
    text_format(&s->news, " in full: %s", in_short_bytes(full->value).at);
    if (full->us > 0) text_format(&s->news, " in %s", in_micros(full->us).at);
    text_format(&s->news, same ? ", as when it was cut short" : "; cut short it had %s",
                in_short_bytes(cut->value).at);
    if (!same && cut->us > 0) text_format(&s->news, " in %s", in_micros(cut->us).at);
    text_format(&s->news, "; %s takes it", KEY_OF(OPEN));
}

void tries_done(void *data, bool stopped)
{
    struct try_job *j = data;
    struct tries *t = j->tries;
    struct remedy *row = NULL;
    const struct session *s = j->session;
    if (j->it.state <= REMEDY_CUT && s->current >= 0 && s->patterns.at[s->current].source == j->source)
        session_saw(j->session, &j->it);
    for (size_t i = 0; j->number == t->number && i < t->list.all.count; i++)
        if (t->list.all.at[i].order == j->it.order) row = &t->list.all.at[i];
    if (!row) return;
    if (j->round == WITHOUT_LIMIT && row->state == REMEDY_CUT && j->it.state == REMEDY_TRIED)
        tries_tell(j->session, row, &j->it);
    bool had = row->state <= REMEDY_CUT, again = j->it.state == REMEDY_CUT || j->it.state == REMEDY_LARGE;
    bool full = row->state == REMEDY_TRIED && j->it.state == REMEDY_CUT; /* a full try stays */
    if (!full && (!had || j->it.state <= REMEDY_CUT)) {
        const struct lx_plan *old = row->made;
        *row = j->it;
        j->it.made = old; /* to be freed */
    }
    if (t == &j->session->forced.tries && !stopped) {
        text_free(&j->session->news);
        j->session->news_is_good = true;
        add_printable(&j->session->news, j->it.what, 60);
        text_add(&j->session->news, ": planned");
    }
    t->left -= t->left > 0 && j->round == 0;
    if (again && !stopped && j->round + 1 < ROUNDS) tries_post(t, j->session, &j->listed, j->round + 1);
    tries_sort(t);
}

void tries_free(void *data)
{
    OWNED struct try_job *j = data;
    lx_plan_free(j->it.made);
    remedies_free(&j->of);
}

void tries_begin(struct tries *t, struct session *s, int first)
{
    int count = (int)t->list.all.count;
    t->left = 0;
    for (int i = 0; i < count; i++) {
        struct remedy *it = &t->list.all.at[(first + i) % count];
        double plans = it->sort ? it->sort->plans * (t->in_place ? count : 1) : 0;
        bool long_one = s->took * plans > LONGEST && it->promise < REMEDY_KNOWN;
        if (it->state == REMEDY_OPEN && long_one) it->state = REMEDY_LARGE;
        if (it->state != REMEDY_OPEN && it->state != REMEDY_CUT) continue;
        tries_post(t, s, it, it->state == REMEDY_CUT);
        t->left += it->state == REMEDY_OPEN;
    }
    tries_sort(t);
}

void tries_ask(struct tries *t, struct session *s, int row)
{
    struct remedy *it = &t->list.all.at[row];
    if (it->state != REMEDY_CUT) it->state = REMEDY_OPEN;
    tries_post(t, s, it, WITHOUT_LIMIT);
}

const char *tries_first(struct tries *t, struct session *s, int row)
{
    enum remedy_state state = t->list.all.at[row].state;
    if (state == REMEDY_OPEN ||
        (state == REMEDY_CUT &&
         worker_progress(s->worker, &t->work[TRY_ASKED], t->list.all.at[row].order).running))
        return "it is being tried";
    if (state != REMEDY_CUT && state != REMEDY_LARGE && state != REMEDY_STOPPED) return NULL;
    tries_ask(t, s, row);
    return state == REMEDY_CUT ? "it was cut short: planning it in full first" : "trying it";
}

void tries_stop(const struct tries *t, struct session *s)
{
    for (int i = 0; i < TRY_SORTS; i++) worker_stop(s->worker, &t->work[i]);
}

void tries_cancel(struct tries *t, struct session *s)
{
    tries_stop(t, s);
    for (size_t i = 0; i < t->list.all.count; i++)
        if (t->list.all.at[i].state == REMEDY_OPEN) t->list.all.at[i].state = REMEDY_STOPPED;
    t->left = 0;
    t->number++;
    tries_sort(t);
}

int tries_running(const struct tries *t, const struct session *s)
{
    int n = 0;
    for (int i = 0; i < TRY_SORTS; i++) n += worker_busy(s->worker, &t->work[i]);
    return n;
}

bool tries_row_runs(const struct tries *t, const struct session *s, const struct remedy *it)
{
    bool runs = false;
    for (int i = 0; i < TRY_SORTS; i++) runs |= worker_progress(s->worker, &t->work[i], it->order).running;
    return runs;
}

void tries_forget(struct tries *t)
{
    remedies_free(&t->list);
    *t = (struct tries){.number = t->number + 1, .work = t->work, .in_place = t->in_place};
}

bool tries_take(struct explorer *x, const struct remedy *it, const char *verb)
{
    struct what_if how = {.options = it->options};
    char what[sizeof it->what]; /* the row may go with the plan */
    memcpy(what, it->what, sizeof what);
    bool is_new = session_change(&x->session, &how);
    if (is_new)
        explorer_say(x, TONE_GOOD, "%s: %s; %s: undo", verb, what, KEY_OF(UNDO));
    else
        explorer_say(x, TONE_DIM, "that is set already");
    return is_new;
}

int tries_draw(const struct scene *on, struct box area, const struct tries_table *t)
{
    int count = (int)t->rows->all.count;
    struct box head = box_cut_top(&area, t->least_rows < area.rows);
    struct fitted f =
        fit_columns((struct columns){remedy_columns.name, t->columns, REMEDY_COLUMNS}, area.columns - 2);
    if (head.rows) sorting_draw_heads(on, box_behind(head, 2), &f, &f.of, &t->by);
    list_show(t->list, count, area);
    for (int i = 0; i < area.rows && t->list->top + i < count; i++) {
        struct box row = {area.row + i, area.column, 1, area.columns};
        struct remedy_row data = {t->rows, &t->rows->all.at[t->list->top + i]};
        put_values(on->cells, box_behind(row, 2), &f, &data);
        t->mark(on, t->view, row, t->list->top + i);
    }
    return area.rows;
}
