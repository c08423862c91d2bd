/* A lock around reading, so that a file is read once for all jobs. source_forget only marks the content as
 * outdated; the next source_read reads the file again. */
#include "tui/views/pattern_source.h"
#include "base/file.h"

#include <pthread.h>
#include <stdatomic.h>

struct pattern_source {
    pthread_mutex_t lock; /* held while the file is read: other jobs wait */
    bool is_read;
    atomic_bool is_old; /* forgotten */
    struct source_content content;
    const struct model_options *models;
    struct arena memory; /* of those that the user gave later */
    char path[];
};

struct pattern_source *source_new(const char *path, const struct model_options *models)
{
    size_t length = strlen(path);
    struct pattern_source *s = mem_zeroed(1, sizeof *s + length + 1);
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
    arena_free(&s->memory);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

static void pattern_source_read(const char *path, const struct model_options *models,
                                struct source_content *c)
{
    size_t length = 0;
    OWNED char *text = file_read(path, &length, &c->st);
    c->is_plan = text && lx_is_plan(text, length);
    if (c->is_plan) {
        c->plan = lx_plan_of_text(path, text, length, &c->st);
        c->graph = c->plan ? lx_graph_ref(c->plan->graph) : NULL;
    } else if (text && lx_is_team_plan(text, length)) {
        /* Of a team's plan all views but the team's show the graph on one device. */
        struct lx_team_plans *team = lx_team_plans_parse(path, text, length, &c->st);
        if (team) {
            c->graph = lx_graph_ref(team->team->graph);
            c->team_file = path;
            lx_team_plans_free(team);
        }
    } else if (text)
        c->graph = graph_of_text(models, path, text, length, NULL, &c->st);
    if (!c->is_plan && c->graph && c->graph->list && c->graph->list->address) {
        c->plan = lx_plan_stated(c->graph, &c->st);
        c->is_plan = c->plan;
    }
}

/* Other threads share the content: it belongs to no border. With the lock. */
static void pattern_source_fill(struct pattern_source *s)
{
    struct border border;
    if (border_begin(&border) == 0) {
        pattern_source_read(s->path, s->models, &s->content);
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
    if (atomic_exchange(&s->is_old, false)) source_content_free(&s->content), s->is_read = false;
    if (!s->is_read) pattern_source_fill(s);
    struct source_content c = s->content;
    lx_graph_ref(c.graph);
    lx_plan_ref(c.plan);
    pthread_mutex_unlock(&s->lock);
    return c;
}

void source_forget(struct pattern_source *s)
{
    /* Does not wait for a job that reads: the next job drops the content. */
    atomic_store(&s->is_old, true);
    if (pthread_mutex_trylock(&s->lock) != 0) return;
    if (atomic_exchange(&s->is_old, false)) source_content_free(&s->content), s->is_read = false;
    pthread_mutex_unlock(&s->lock);
}

void facts_of(const struct source_content *from, struct facts *out)
{
    *out = (struct facts){.target = -1, .is_plan = from->is_plan, .refused = !from->graph, .st = from->st};
    if (!from->graph) return;
    const struct lx_graph *g = from->graph;
    out->name = mem_string(g->name);
    out->summary = mem_string(g->summary ? g->summary : "");
    /* "all pass", "greedy fails", "refused: shape" */
    struct text t = {0};
    int fails = 0;
    for (int i = 0; i < g->expect_count; i++) fails += !g->expects[i].pass;
    if (g->expect_stage)
        text_format(&t, "refused: %s", g->expect_code ? g->expect_code : g->expect_stage);
    else if (g->expect_count == 0)
        text_add(&t, "");
    else if (fails == 0)
        text_add(&t, "all pass");
    else {
        const char *comma = "";
        for (int i = 0; i < g->expect_count; i++) {
            if (g->expects[i].pass) continue;
            text_format(&t, "%s%s", comma, g->expects[i].solver);
            comma = ", ";
        }
        text_add(&t, fails == 1 ? " fails" : " fail");
    }
    out->expect = t.at ? t.at : mem_string("");
    out->ops = g->op_count;
    out->is_list = g->list;
    out->must_refuse = g->expect_stage != NULL;
    out->buffers = g->list ? g->list->buffer_count : g->tensor_count;
    for (int32_t i = 0; i < g->tensor_count; i++) out->bytes += g->tensors[i].bytes;
    for (int32_t i = 0; g->list && i < g->list->buffer_count; i++) out->bytes += g->list->buffers[i].size;
    out->target = g->target_hbm_bytes;
    if (!from->is_plan) out->refused = !expectations_known(from->graph, &out->st);
}

void facts_free(struct facts *f)
{
    mem_free(f->name);
    mem_free(f->summary);
    mem_free(f->expect);
    *f = (struct facts){0};
}

const struct model_options *source_models(const struct pattern_source *s)
{
    return s->models;
}

/* As if all were given on a command line, each once. */
bool source_set_dims(struct pattern_source *s, const char *text, lx_status *st)
{
    static const struct command explorer = {.name = "explore"};
    struct call call = {.command = &explorer, .line = {.memory = &s->memory}};
    pthread_mutex_lock(&s->lock);
    for (int i = 0; s->models && i < s->models->count; i++) VEC_PUSH(&call.line.options, s->models->list[i]);
    char *rest = arena_string(&s->memory, text);
    for (char *pair; (pair = strsep(&rest, " "));) {
        size_t k = 0, length = strcspn(pair, "=") + 1, n = call.line.options.count;
        const struct given_option *at = call.line.options.at, own = {"dim", pair};
        if (!*pair) continue;
        while (k < n && (strcmp(at[k].name, "dim") != 0 || strncmp(at[k].value, pair, length) != 0)) k++;
        if (k == n) VEC_PUSH(&call.line.options, own);
        call.line.options.at[k] = own;
    }
    struct model_options *to = arena_alloc(&s->memory, sizeof *to);
    bool ok = read_model_options && read_model_options(&call, to);
    if (ok)
        s->models = to;
    else
        *st = call.st;
    pthread_mutex_unlock(&s->lock);
    VEC_FREE(&call.line.options);
    return ok;
}
