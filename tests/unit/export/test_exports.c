/* The table of exports; tables of XLA read back; answers to D2M; names that would break a format. */
#include "support/export_plans.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"
#include "support/sampled.h"

#include <unistd.h>

static void names_are_words_of_their_own(void **state)
{
    struct lx_export a, b;
    lx_status st = {0};
    (void)state;
    for (int i = 0; lx_export_at(i, &a); i++) {
        assert_true(*a.name && *a.summary && *a.help && (a.write != NULL) != (a.format != NULL));
        assert_true(lx_export_find(a.name, &b, &st) && strcmp(a.name, b.name) == 0);
        for (int k = 0; k < i && lx_export_at(k, &b); k++) assert_string_not_equal(a.name, b.name);
    }
    assert_false(lx_export_find("perfeto", &a, &st));
    assert_int_equal(st.code, LX_E_UNKNOWN_NAME);
    assert_non_null(strstr(st.text, "perfetto"));
}

/* lib/files.md has a line of each. */
static void every_format_is_described(void **state)
{
    FILE *f = fopen(SOURCE_DIR "/lib/files.md", "rb");
    char *text = mem_zeroed(1 << 20, 1), name[80];
    struct lx_export a;
    (void)state;
    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    for (int i = 0; lx_export_at(i, &a); i++) {
        snprintf(name, sizeof name, "| `%s`", a.name);
        if (!strstr(text, name)) fail_msg("lib/files.md has no line for %s", a.name);
    }
    fclose(f);
    mem_free(text);
}

/* ---- Tables of XLA: a reader of rows, with quotes. ---- */

enum { FIELDS = 12 };

struct rows {
    char *at;
    char *field[FIELDS];
    int count;
};

static bool next_row(struct rows *r)
{
    r->count = 0;
    if (!*r->at) return false;
    for (bool more = true; more;) {
        char *to = r->at;
        assert_true(r->count < FIELDS);
        r->field[r->count++] = to;
        bool quoted = *r->at == '"';
        for (r->at += quoted; *r->at; *to++ = *r->at++) {
            if (quoted && r->at[0] == '"' && r->at[1] == '"')
                r->at++;
            else if (quoted ? *r->at == '"' : *r->at == ',' || *r->at == '\n')
                break;
        }
        r->at += quoted;
        more = *r->at == ',';
        r->at++;
        *to = 0;
    }
    return true;
}

/* What is written is a list that can be planned again: the same buffers with the same lives. */
static void check_list(const struct lx_plan *p, const char *text, size_t length)
{
    lx_status st = {0};
    int32_t n = 0;
    const struct lx_graph *g = lx_graph_of_text("list", text, length, &st);
    if (!g) fail_msg("%s: %s", p->graph->name, st.text);
    for (int32_t i = 0; i < p->problem.count; i++) {
        if (p->answer.address[i] < 0) continue;
        assert_string_equal(g->list->buffers[n].name, p->problem.buffers[i].name);
        assert_int_equal(g->list->buffers[n].start, p->problem.buffers[i].start);
        assert_int_equal(g->list->buffers[n++].end, p->problem.buffers[i].end);
    }
    assert_int_equal(n, g->list->buffer_count);
    lx_graph_free(g);
}

/* All reads of what a buffer has: by ops, by copies from it, by stores. */
static int reads_of(const struct lx_plan *p, int32_t i)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    int n = 0;
    if (!p->layouts) return b->use_count - (b->use_count && !b->first_use_is_read);
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++)
            if (p->accesses[a].stay == i && p->accesses[a].reads) {
                n++;
                break;
            }
    for (int32_t t = 0; t < p->transfer_count; t++)
        n += p->transfers[t].source == i || (p->transfers[t].kind == LX_STORE && p->transfers[t].stay == i);
    return n;
}

static int parts_of(const char *s)
{
    int n = *s != 0;
    for (; *s; s++) n += *s == ';';
    return n;
}

static void check_assignment(const struct lx_plan *p)
{
    size_t length = 0;
    int32_t id = -1;
    char *text = plan_exported(p, "xla-csv", &length);
    check_list(p, text, length);
    struct rows r = {.at = text};
    assert_true(next_row(&r) && r.count == 9);
    assert_string_equal(r.field[4], "definition_time");
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        id += !b->reason;
        if (p->answer.address[i] < 0) continue;
        assert_true(next_row(&r) && r.count == 9);
        assert_int_equal(atoll(r.field[0]), id);
        assert_string_equal(r.field[1], b->name);
        assert_int_equal(atoll(r.field[2]), p->answer.address[i]);
        assert_int_equal(atoll(r.field[3]), b->size);
        assert_int_equal(atoll(r.field[4]), b->start);
        assert_int_equal(atoll(r.field[5]) + 1, b->end);
        assert_int_equal(atoll(r.field[6]), reads_of(p, i));
        assert_int_equal(parts_of(r.field[7]), reads_of(p, i));
        assert_int_equal(parts_of(r.field[8]), reads_of(p, i));
    }
    assert_false(next_row(&r));
    mem_free(text);
}

static void check_allocinfo(const struct lx_plan *p)
{
    size_t length = 0;
    lx_status st = {0};
    int32_t id = 0;
    if (lx_pool_count(&p->problem) > 1) {
        assert_null(lx_export_write(p, NULL, "allocinfo", &length, &st));
        assert_int_equal(st.code, LX_E_UNSUPPORTED);
        return;
    }
    char *text = plan_exported(p, "allocinfo", &length);
    struct rows r = {.at = text};
    assert_true(next_row(&r) && r.count == 5);
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        for (int32_t k = 0; p->answer.address[i] >= 0 && k < lx_life_count(b); k++) {
            assert_true(next_row(&r) && r.count == 5);
            assert_int_equal(atoll(r.field[0]), id);
            assert_int_equal(atoll(r.field[1]), b->size);
            assert_int_equal(atoll(r.field[2]), p->answer.address[i]);
            assert_int_equal(atoll(r.field[3]), lx_life_at(b, k).start);
            assert_int_equal(atoll(r.field[4]), lx_life_at(b, k).end - 1);
        }
        id += !b->reason;
    }
    assert_false(next_row(&r));
    mem_free(text);
}

/* Both tables of a plan together are a plan to the checker, at its own capacity; and not one, once a stay is moved over
 * another or made larger than the memory. */
static void check_pair(const struct lx_plan *p)
{
    struct lx_xla_text info = {.file = "info"}, alloc = {.file = "alloc"};
    struct lx_xla_report r;
    lx_status st = {0};
    int32_t placed = 0, open = 0;
    char *texts[2];
    if (lx_problem_needs(&p->problem)) return;
    info.text = texts[0] = plan_exported(p, "xla", &info.length);
    alloc.text = texts[1] = plan_exported(p, "allocinfo", &alloc.length);
    for (int32_t i = 0; i < p->problem.count; i++) {
        open += !p->problem.buffers[i].reason;
        placed += p->answer.address[i] >= 0;
    }
    if (!lx_check_xla(&info, &alloc, p->problem.capacity, &r, &st))
        fail_msg("%s: %s", p->graph->name, st.text);
    assert_int_equal(r.buffers, open);
    assert_int_equal(r.on_chip, placed);
    assert_int_equal(r.height_bytes, p->figures.height_bytes);
    if (r.height_bytes > 0) {
        assert_false(lx_check_xla(&info, &alloc, r.height_bytes - 1, &r, &st));
        assert_int_equal(st.code, LX_E_NO);
    }
    mem_free(texts[0]);
    mem_free(texts[1]);
}

/* Random allocations against all pairs of them. */
static void pairs_by_brute_force(void **state)
{
    struct rng random = rng_seed(11);
    int legal = 0;
    (void)state;
    for (int round = 0; round < OFTEN(2000); round++) {
        enum { MOST = 6 };
        int64_t at[MOST][4];
        int count = (int)rng_between(&random, 0, MOST);
        struct text info = {0}, alloc = {0};
        bool clash = false;
        text_add(&info, "buffer_id,buffer_name,size\n0,x,1\n");
        text_add(&alloc, "buffer_id,size,offset,start_time,end_time\n");
        for (int i = 0; i < count; i++) {
            at[i][0] = rng_between(&random, 1, 4);
            at[i][1] = rng_between(&random, 0, 8);
            at[i][2] = rng_between(&random, 0, 8);
            at[i][3] = at[i][2] + rng_between(&random, 0, 4);
            text_format(&alloc, "%d,%d,%d,%d,%d\n", i % 2 ? 0 : -1 - i, (int)at[i][0], (int)at[i][1],
                        (int)at[i][2], (int)at[i][3]);
            for (int k = 0; k < i; k++)
                clash |= at[i][1] < at[k][1] + at[k][0] && at[k][1] < at[i][1] + at[i][0] &&
                         at[i][2] < at[k][3] && at[k][2] < at[i][3];
        }
        struct lx_xla_text one = {"info", info.at, info.length}, two = {"alloc", alloc.at, alloc.length};
        struct lx_xla_report r;
        lx_status st = {0};
        bool ok = lx_check_xla(&one, &two, -1, &r, &st);
        assert_int_equal(ok, !clash);
        if (!ok) assert_non_null(strstr(st.text, "rule overlap"));
        legal += ok;
        text_free(&info);
        text_free(&alloc);
    }
    assert_true(legal > OFTEN(2000) / 10 && legal < OFTEN(2000) / 10 * 9);
}

/* A stay may reach beyond the life of its buffer, but not lie outside of it. */
static void stays_are_in_lives(void **state)
{
    static const char info[] =
        "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times\n4,x,1,8,10,\"12;20;15\"\n";
    static const struct {
        int first, last;
        bool legal;
    } stays[] = {{10, 20, true}, {20, 30, true},  {5, 10, true},
                 {12, 13, true}, {21, 25, false}, {0, 9, false}};
    (void)state;
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++) {
        char alloc[120];
        struct lx_xla_report r;
        lx_status st = {0};
        snprintf(alloc, sizeof alloc, "buffer_id,size,offset,start_time,end_time\n4,8,0,%d,%d\n",
                 stays[i].first, stays[i].last);
        struct lx_xla_text one = {"info", info, strlen(info)}, two = {"alloc", alloc, strlen(alloc)};
        assert_int_equal(lx_check_xla(&one, &two, -1, &r, &st), stays[i].legal);
        if (!stays[i].legal) assert_non_null(strstr(st.text, "rule life"));
    }
}

/* The page is the one that `lxplan show` writes. */
static void page_is_that_of_show(void **state)
{
    static const char plan[] = "/tmp/lxplan_page_XXXXXX";
    char path[sizeof plan], command[1200];
    lx_status st = {0};
    size_t length = 0, n;
    (void)state;
    memcpy(path, plan, sizeof plan);
    int made = mkstemp(path);
    assert_true(made >= 0);
    close(made);
    snprintf(command, sizeof command, "%s plan %s/patterns/graphs/attention_small.json -q -o %s",
             LXPLAN_PROGRAM, SOURCE_DIR, path);
    assert_int_equal(system(command), 0);
    struct lx_plan *p = lx_plan_read(path, &st);
    assert_non_null(p);
    char *page = plan_exported(p, "html", &length), *shown = mem_zeroed(length + 2, 1);
    snprintf(command, sizeof command, "%s show --html %s", LXPLAN_PROGRAM, path);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    n = fread(shown, 1, length + 1, f);
    assert_int_equal(pclose(f), 0);
    assert_int_equal(n, length);
    assert_memory_equal(page, shown, n);
    /* What is read without scripts. */
    static const char *const still[] = {"<svg role=\"img\" aria-label=\"addresses against time\"",
                                        "class=\"buffer\"",
                                        "hash of the pattern",
                                        "lxplan plan PATTERN -s auto --seed 0",
                                        "all in HBM",
                                        "<th scope=\"col\">splits</th>",
                                        "lxplan "};
    const char *data = strstr(page, "<script");
    for (size_t i = 0; i < sizeof still / sizeof *still; i++)
        if (!strstr(page, still[i]) || strstr(page, still[i]) > data) fail_msg("no %s", still[i]);
    mem_free(page);
    mem_free(shown);
    /* Beside another plan it says what that one comes to. */
    page = lx_export_write(p, p, "html", &length, &st);
    assert_non_null(page);
    assert_non_null(strstr(page, "beside it: attention_small"));
    mem_free(page);
    lx_plan_free(p);
    unlink(path);
}

static void check_tables(const struct lx_plan *p)
{
    check_pair(p);
    check_assignment(p);
    check_allocinfo(p);
}

static void tables_are_the_plan(void **state)
{
    (void)state;
    each_export_plan(check_tables);
}

/* ---- D2M. ---- */

static const char d2m[] =
    "{\"variables\": [{\"placement\": \"NA\", \"bound\": false, \"domain\": {\"scratch\": [0, 2], \"spill\": "
    "[1]}},"
    "{\"placement\": \"scratch\", \"bound\": true, \"domain\": {\"scratch\": [3], \"spill\": []}},"
    "{\"placement\": \"NA\", \"bound\": false, \"domain\": {\"scratch\": [], \"spill\": []}}],"
    "\"requests\": [[0, 0, 3, 512, -1], [0, 2, 2, 64, -1], [0, 5, 6, 256, -1], [1, 1, 5, 512, -1]]}";

static struct lx_plan *plan_of_d2m(int64_t capacity, lx_status *st)
{
    const struct lx_graph *whole = lx_graph_of_text("d2m", d2m, strlen(d2m), st);
    const struct lx_graph *g = whole ? lx_graph_with_capacity(whole, capacity, st) : NULL;
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    struct lx_plan *p = g ? lx_plan_make(g, &how, st) : NULL;
    lx_graph_free(whole);
    lx_graph_free(g);
    if (!p) fail_msg("%s", st->text);
    return p;
}

/* Requests of the space that a variable is in have offsets, the others none; sizes and ticks are those of the file. */
static void check_variable(const cJSON *v, const cJSON *requests, bool in_scratch)
{
    static const char *const spaces[] = {"spill", "scratch"};
    assert_string_equal(word_at(v, "placement"), spaces[in_scratch]);
    for (int s = 0; s < 2; s++) {
        const cJSON *r;
        cJSON_ArrayForEach(r, item_at(item_at(v, "domain"), spaces[s]))
        {
            const cJSON *one = cJSON_GetArrayItem(requests, (int)r->valuedouble);
            assert_int_equal(cJSON_GetArrayItem(one, 4)->valuedouble >= 0, s == in_scratch);
        }
    }
}

static void answers_to_d2m(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        lx_status st = {0};
        struct lx_plan *p = plan_of_d2m(big ? 2048 : 640, &st);
        struct exported_tree j = exported_json(p, "d2m");
        const cJSON *variables = item_at(j.root, "variables"), *requests = item_at(j.root, "requests");
        assert_int_equal(cJSON_GetArraySize(variables), 3);
        assert_int_equal(cJSON_GetArraySize(requests), 4);
        check_variable(cJSON_GetArrayItem(variables, 0), requests, big);
        check_variable(cJSON_GetArrayItem(variables, 1), requests, true);
        assert_true(cJSON_IsTrue(item_at(cJSON_GetArrayItem(variables, 1), "bound")));
        /* It is a D2M file again. */
        size_t length = 0;
        char *text = plan_exported(p, "d2m", &length);
        const struct lx_graph *g = lx_graph_of_text("again", text, length, &st);
        assert_non_null(g);
        assert_int_equal(g->list->buffer_count, p->graph->list->buffer_count);
        lx_graph_free(g);
        mem_free(text);
        cJSON_Delete(j.root);
        lx_plan_free(p);
    }
}

static void only_d2m_has_such_answers(const struct lx_plan *p)
{
    lx_status st = {0};
    size_t length;
    assert_null(lx_export_write(p, NULL, "d2m", &length, &st));
    assert_int_equal(st.code, LX_E_UNSUPPORTED);
}

static void answers_to_nobody_else(void **state)
{
    (void)state;
    each_export_plan(only_d2m_has_such_answers);
}

/* ---- Names. ---- */

/* A pattern whose every name has what the formats use themselves. */
static struct lx_plan *hostile_plan(void)
{
#define NASTY "</script>\\\"'\\\\,;\\u000a<!--\\u2028 =1+1"
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"" NASTY "\", \"tensors\": ["
        "{\"name\": \"a" NASTY "\", \"shape\": [64, 64], \"dtype\": \"fp16\", \"role\": \"input\"},"
        "{\"name\": \"=b" NASTY "\", \"shape\": [64, 64], \"dtype\": \"fp16\"},"
        "{\"name\": \"c" NASTY "\", \"shape\": [64, 64], \"dtype\": \"fp16\", \"role\": \"output\"}],"
        "\"ops\": [{\"name\": \"x" NASTY "\", \"kind\": \"exp\", \"inputs\": [\"a" NASTY
        "\"], \"output\": \"=b" NASTY "\"},{\"name\": \"y" NASTY
        "\", \"kind\": \"exp\", \"inputs\": [\"=b" NASTY "\"], \"output\": \"c" NASTY "\"}]}";
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit")};
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    lx_graph_free(g);
    if (!p) fail_msg("%s", st.text);
    return p;
}

static void hostile_names_stay_names(void **state)
{
    static const char *const jsons[] = {"handover", "perfetto", "pattern", "model-explorer-residency",
                                        "model-explorer-hbm"};
    struct lx_plan *p = hostile_plan();
    (void)state;
    for (size_t i = 0; i < sizeof jsons / sizeof *jsons; i++) {
        struct exported_tree j = exported_json(p, jsons[i]);
        cJSON_Delete(j.root);
    }
    struct exported_tree j = exported_json(p, "model-explorer");
    const cJSON *first = item_at(item_at(j.root, "graphs")->child, "nodes")->child;
    assert_string_equal(word_at(first, "label"), p->layouts->graph->ops[0].name);
    cJSON_Delete(j.root);
    check_tables(p);
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_words_of_their_own), cmocka_unit_test(every_format_is_described),
        cmocka_unit_test(tables_are_the_plan),          cmocka_unit_test(answers_to_d2m),
        cmocka_unit_test(answers_to_nobody_else),       cmocka_unit_test(pairs_by_brute_force),
        cmocka_unit_test(stays_are_in_lives),           cmocka_unit_test(page_is_that_of_show),
        cmocka_unit_test(hostile_names_stay_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
