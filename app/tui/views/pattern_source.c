/* Reads under a lock, so that a file is read once however many jobs want it; whoever forgets it only marks it
 * old, and the next to ask reads again. */
#include "tui/views/pattern_source.h"
#include "base/file.h"
#include "base/border.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct pattern_source {
    pthread_mutex_t lock; /* held while the file is read: the others wait for it, and do not read it too */
    bool is_read;
    atomic_bool is_old; /* forgotten */
    struct source_content content;
    const struct model_options *models;
    char path[];
};

struct pattern_source *source_new(const char *path, const struct model_options *models)
{
    size_t length = strlen(path);
    struct pattern_source *s = mem_zeroed(1, sizeof *s + length + 1);
    if (!s) return NULL;
    memcpy(s->path, path, length);
    s->models = models;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void source_content_free(struct source_content *c)
{
    lx_plan_free(c->plan);
    lx_graph_free(c->graph);
    *c = (struct source_content){0};
}

void source_free(struct pattern_source *s)
{
    if (!s) return;
    source_content_free(&s->content);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

static void read_file(const char *path, const struct model_options *models, struct source_content *c)
{
    size_t length = 0;
    char *text = file_read(path, &length, &c->st);
    c->is_plan = text && lx_is_plan(text, length);
    if (c->is_plan) {
        c->plan = lx_plan_of_text(path, text, length, &c->st);
        c->graph = c->plan ? lx_graph_ref(c->plan->graph) : NULL;
    } else if (text && lx_is_team_plan(text, length)) {
        /* Of the plan of a team all views but the team's show the graph, as one device runs it. */
        struct lx_team_plans *team = lx_team_plans_parse(path, text, length, &c->st);
        if (team) {
            c->graph = lx_graph_ref(team->team->graph);
            c->team_file = path;
            lx_team_plans_free(team);
        }
    } else if (text)
        c->graph = graph_of_text(models, path, text, length, NULL, &c->st);
    mem_free(text);
}

static void pattern_source_drop(struct pattern_source *s)
{
    source_content_free(&s->content);
    s->is_read = false;
}

/* Other threads share the content: it belongs to no border. With the lock. */
static void pattern_source_fill(struct pattern_source *s)
{
    struct border border;
    if (border_begin(&border) == 0) {
        read_file(s->path, s->models, &s->content);
        border_end_released(&border);
        s->is_read = true;
    } else {
        pthread_mutex_unlock(&s->lock);
        memory_out();
    }
}

struct source_content source_read(struct pattern_source *s)
{
    pthread_mutex_lock(&s->lock);
    if (atomic_exchange(&s->is_old, false)) pattern_source_drop(s);
    if (!s->is_read) pattern_source_fill(s);
    struct source_content c = s->content;
    lx_graph_ref(c.graph);
    lx_plan_ref(c.plan);
    pthread_mutex_unlock(&s->lock);
    return c;
}

void source_forget(struct pattern_source *s)
{
    /* While somebody reads it, nobody waits here: the next one to ask drops it. */
    atomic_store(&s->is_old, true);
    if (pthread_mutex_trylock(&s->lock) != 0) return;
    if (atomic_exchange(&s->is_old, false)) pattern_source_drop(s);
    pthread_mutex_unlock(&s->lock);
}
