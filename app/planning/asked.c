/* What a question of the command line has besides its options and its file: how models are read, and the form of the words. */
#include "planning/asked.h"
#include "base/file.h"
#include "base/memory.h"
#include "text/colour.h"

#include <stdlib.h>
#include <string.h>

/* Solvers that we do not know, who wants to read along, and what is read once only have to go the long way. */
static bool may_be_kept(const struct call *call, const char *path)
{
    return strcmp(path, "-") != 0 && !option_given(&call->line, "log") && !getenv("LXPLAN_PLUGINS");
}

static void asked_add_models(struct call *call, struct text *t)
{
    struct model_options m;
    t->failed |= !read_model_options(call, &m);
    for (int i = 0; !t->failed && i < m.count; i++)
        text_format(t, "model %s=%s\n", m.list[i].name, m.list[i].value ? m.list[i].value : "");
}

char *question_asked(struct call *call, const char *path, const char *form)
{
    struct lx_settings o;
    struct text t = {0};
    size_t length;
    lx_status before = call->st;
    bool ok = may_be_kept(call, path) && read_options(call, &o) && lx_question_options(&o, &t);
    char *data = ok ? file_read(path, &length, &call->st) : NULL;
    if (data) {
        text_format(&t, "form %s%s\n", form, paint_is_on() ? " in colours" : "");
        asked_add_models(call, &t);
        t.failed |= !lx_question_file(path, data, length, &t);
    }
    if (!data || t.failed) text_free(&t);
    mem_free(data);
    call->st = before;
    return t.at;
}

bool question_answered(struct call *call, const char *question, struct lx_recalled *out)
{
    struct lx_settings o;
    lx_status st = {0};
    char words[1200];
    if (!question || !read_options(call, &o)) return false;
    if (lx_cache_recall(o.cache, question, lx_settings_is_set(&o, LX_OPTION_CACHE_CHECK), out, &st))
        return true;
    if (st.code != LX_OK)
        note(call, "%s; what was kept of this question is ignored and written anew",
             lx_status_describe(&st, words, sizeof words));
    return false;
}

void question_keep(struct call *call, const char *question, const struct lx_plan *p, const struct text *words)
{
    struct lx_settings o;
    lx_status st = {0};
    if (!question || !p->kept_as || words->failed || !read_options(call, &o)) return;
    (void)lx_cache_remember(o.cache, question, p->kept_as, words->at ? words->at : "", words->length, &st);
}
