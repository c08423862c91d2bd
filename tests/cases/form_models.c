/* The form of models: facts of model files that others have counted, each of which our reader must give as well.
 *
 * The files themselves are not part of the project: they are looked for in ../corpus/models, beside the folder of the
 * case file. What is not there is skipped. */
#include "cases/cases.h"
#include "base/file.h"
#include "base/memory.h"
#include "import/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BINDINGS = 32 };

static int bindings_of(const cJSON *object, struct lx_model_binding *out)
{
    const cJSON *v;
    int n = 0;
    cJSON_ArrayForEach(v, object) if (n < MOST_BINDINGS) out[n++] =
        (struct lx_model_binding){v->string, case_int(v, -1)};
    case_looked(object);
    return n;
}

static void expect_fact(struct cases *c, const struct model_facts *f, const char *group, const char *key,
                        const cJSON *wanted)
{
    int64_t want = cJSON_IsBool(wanted) ? cJSON_IsTrue(wanted) : case_int(wanted, -1);
    int64_t got = model_fact(f, group, key, 0);
    case_looked(wanted);
    case_expect(c, got == want, "%s%s%s: expected %lld, counted %lld", group, *key ? " of " : "", key,
                (long long)want, (long long)got);
}

/* Nothing is counted under a key that the facts do not have. */
static void expect_no_more(struct cases *c, const struct model_facts *f, const char *group, int64_t keys)
{
    int64_t counted = 0;
    for (size_t i = 0; i < f->all.count; i++)
        counted += strcmp(f->all.at[i].group, group) == 0 && f->all.at[i].value != 0;
    case_expect(c, counted <= keys, "%s: %lld keys expected, %lld counted", group, (long long)keys,
                (long long)counted);
}

static void expect_group(struct cases *c, const struct model_facts *f, const cJSON *group)
{
    const cJSON *v;
    char number[24];
    int i = 0;
    cJSON_ArrayForEach(v, group)
    {
        snprintf(number, sizeof number, "%d", i++);
        expect_fact(c, f, group->string, v->string ? v->string : number, v);
    }
    case_looked(group);
    expect_no_more(c, f, group->string, i);
}

static void expect_facts(struct cases *c, const struct model_facts *f, const cJSON *one)
{
    static const char *const other[] = {"bytes", "in_corpus", "dims", "values", NULL};
    const cJSON *v;
    cJSON_ArrayForEach(v, one)
    {
        bool skip = cJSON_IsString(v);
        for (int i = 0; other[i]; i++) skip |= strcmp(other[i], v->string) == 0;
        if (skip)
            case_looked(v);
        else if (cJSON_IsObject(v) || cJSON_IsArray(v))
            expect_group(c, f, v);
        else
            expect_fact(c, f, v->string, "", v);
    }
}

static void run_model(struct cases *c, const cJSON *one, const char *path, const char *text, size_t length)
{
    struct lx_model_binding dims[MOST_BINDINGS], fixed[MOST_BINDINGS];
    struct lx_model_options options = {.dims = dims, .fixed = fixed};
    struct model_facts facts = {0};
    lx_status st = {0};
    char words[1200];
    options.dim_count = bindings_of(cjson_find(one, "dims"), dims);
    options.fixed_count = bindings_of(cjson_find(one, "values"), fixed);
    struct lx_model *m = lx_model_read(path, text, length, &options, &st);
    if (case_expect(c, m != NULL, "%s", m ? "" : lx_status_describe(&st, words, sizeof words)) &&
        (lx_model_facts(&facts, m), true))
        expect_facts(c, &facts, one);
    lx_model_facts_free(&facts);
    lx_model_free(m);
}

static void run_file(struct cases *c, const cJSON *one)
{
    char path[4096];
    size_t length;
    lx_status st;
    const char *file = case_text(one, "file"), *slash = strrchr(c->file, '/');
    case_begin(c, "models/%s", file);
    snprintf(path, sizeof path, "%.*s/../corpus/models/%s", slash ? (int)(slash - c->file) : 1,
             slash ? c->file : ".", file);
    if (access(path, R_OK) != 0) {
        case_skip(c, "the file is not here");
        return;
    }
    char *text = file_read(path, &length, &st);
    if (case_expect(c, text != NULL, "%s", text ? "" : st.text)) run_model(c, one, path, text, length);
    mem_free(text);
    case_end(c, one);
}

static bool fits(const cJSON *root)
{
    const cJSON *first = cJSON_GetArrayItem(cjson_find(root, "files"), 0);
    return cjson_find(first, "kind_bytes") != NULL;
}

static void run(struct cases *c, const cJSON *root)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cjson_find(root, "files")) run_file(c, one);
}

const struct case_form form_models = {"models", fits, run, NULL};
