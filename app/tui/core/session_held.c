/* Plans that are kept to compare with: the pinned one, called A, and plan files. They are checked and indexed in the
 * background, as every plan that views look at. */
#include "tui/core/session.h"
#include "base/fail.h"
#include "base/memory.h"
#include "text/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct holding {
    struct session *session;
    const struct lx_plan *plan; /* a reference; NULL: to be read */
    char *path;                 /* NULL: it is to be pinned */
    struct what_if how;         /* a pinned one was asked for */
    struct held held;
};

static void session_held_hold(void *data, void *watch)
{
    struct holding *h = data;
    (void)watch;
    const struct lx_plan *plan = h->path ? lx_plan_read(h->path, &h->held.outcome.st) : lx_plan_ref(h->plan);
    lx_status st = h->held.outcome.st;
    if (plan) outcome_of_plan(plan, &h->held.outcome);
    h->held.outcome.how = h->how;
    if (!plan) h->held.outcome.st = st;
}

static void session_held_replace(struct held *place, struct held *with)
{
    struct held old = *place;
    *place = *with;
    *with = old; /* to be freed */
}

static void held(void *data, bool stopped)
{
    struct holding *h = data;
    struct session *s = h->session;
    size_t i = 0;
    (void)stopped;
    if (!h->path) {
        session_held_replace(&s->pinned, &h->held);
        return;
    }
    if (!h->held.outcome.plan) { /* there is nothing to compare with: it gets no row */
        char words[1200];
        text_free(&s->news);
        add_printable(&s->news, lx_status_describe(&h->held.outcome.st, words, sizeof words), 0);
        return;
    }
    while (i < s->files.count && strcmp(s->files.at[i].name, h->held.name) != 0) i++;
    if (i == s->files.count && !VEC_PUSH(&s->files, (struct held){0})) return;
    session_held_replace(&s->files.at[i], &h->held);
    s->file_last = (int)i;
    s->files_read++;
}

static void holding_free(void *data)
{
    struct holding *h = data;
    lx_plan_free(h->plan);
    outcome_free(&h->held.outcome);
    mem_free(h->path);
    mem_free(h);
}

const struct work hold_work = {1, session_held_hold, held, holding_free};

bool session_pin(struct session *s)
{
    const struct lx_plan *plan = session_plan(s);
    struct holding *h = plan ? mem_zeroed(1, sizeof *h) : NULL;
    if (!h) return false;
    *h = (struct holding){.session = s, .plan = lx_plan_ref(plan), .how = s->shown.how};
    snprintf(h->held.name, sizeof h->held.name, "A");
    return worker_post(s->worker, &hold_work, 0, h);
}

bool session_hold_file(struct session *s, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct holding *h = mem_zeroed(1, sizeof *h);
    char *copy = mem_string(path);
    if (!h || !copy) {
        mem_free(h);
        mem_free(copy);
        return false;
    }
    *h = (struct holding){.session = s, .path = copy};
    snprintf(h->held.name, sizeof h->held.name, "%s", slash ? slash + 1 : path);
    return worker_post(s->worker, &hold_work, 1, h);
}

void session_held_free(struct session *s)
{
    outcome_free(&s->pinned.outcome);
    for (size_t i = 0; i < s->files.count; i++) outcome_free(&s->files.at[i].outcome);
    VEC_FREE(&s->files);
    text_free(&s->news);
}
