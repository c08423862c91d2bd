/* The table of formats: every row is whole, each tells its own texts from all others', and what it writes it reads
 * back equal. A new row needs samples here: without them the test fails. */
#include "unstable.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct sample {
    const char *format, *file, *text;
} samples[] = {
    {"pattern", "graph.json",
     "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"g\", \"summary\": \"lower, size\", \"tensors\": "
     "[{\"name\": \"x\", \"shape\": [64, 64]}, {\"name\": \"y\", \"shape\": [64, 64]}], \"ops\": [{\"name\": "
     "\"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"y\"}]}"},
    {"pattern", "list.json",
     "\n {\"name\": \"definition_time\", \"buffers\": [{\"name\": \"a\", \"size\": 8, \"uses\": [0, 3]}], "
     "\"capacity\": 8,\n\"kind\"\n: \"pattern\", \"lxplan\": 1}"},
    {"pattern", "marked.json",
     "\xef\xbb\xbf{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"m\", \"buffers\": [{\"name\": \"a\", "
     "\"size\": 8, \"start\": 0, \"end\": 2}]}"},
    {"lifetimes", "loop.json",
     "{\"lxplan\": 1, \"kind\": \"lifetimes\", \"program\": [2, {\"loop\": \"i\", \"body\": [3]}], "
     "\"buffers\": [{\"name\": \"a\", \"size\": 8, \"address\": 0, \"first\": 1, \"last\": 2}]}"},
    {"minimalloc", "short.100.csv", "id,lower,upper,size\na,0,3,10\nb,1,4,64\n"},
    {"minimalloc", "whole.1000.csv",
     "id,lower,upper,size,offset,alignment,weight\r\n\"{\"\"kind\"\": \"\"pattern\"\"}\",0,3,10,,64,5\r\n"
     "b,1,4,64,128,64,9\r\n"},
    {"minimalloc", "marked.64.csv", "\xef\xbb\xbfsize,upper,lower,id\n10,3,0,a\n"},
    {"xla", "dump.csv",
     "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n"
     "0,lower,30,10,0,1;4,,false\n1,b,64,64,2,3,,false\n"},
    {"dsa", "problem.json",
     "{\"schema_version\": 1, \"profile\": \"standard_dsa\", \"instance\": \"kind\", \"metadata\": "
     "{\"kind\": "
     "\"pattern\"}, \"problem\": {\"pools\": [{\"id\": 4, \"name\": \"L1\", \"capacity\": 64}], \"buffers\": "
     "[{\"id\": 7, \"size\": 8, \"live_intervals\": [{\"lower\": -2, \"upper\": 3}], \"allowed_pools\": "
     "[4]}]}}"},
    {"d2m", "dump.json",
     "{\"requests\": [[0, 0, 2, 64, -1], [0, 2, 2, 4, -1]], \"variables\": [{\"placement\": \"NA\", "
     "\"bound\": "
     "false, \"domain\": {\"scratch\": [0], \"spill\": [1]}}]}"},
    {"ttir", "model.mlir",
     "// {\"kind\": \"pattern\"}\nfunc.func @f(%a: tensor<4x64xf32>) -> tensor<4x64xf32> {\n"
     "  %0 = \"ttir.relu\"(%a) : (tensor<4x64xf32>) -> tensor<4x64xf32>\n  return %0 : "
     "tensor<4x64xf32>\n}\n"},
    {"hlo", "model.hlo",
     "HloModule m\n\nENTRY %e (a: f32[4,64]) -> f32[4,64] {\n  %a = f32[4,64]{1,0} parameter(0)\n"
     "  ROOT %b = f32[4,64]{1,0} negate(%a)\n}\n"},
    {"onnx", "model.onnx",
     "\x08\x08\x42\x02\x10\x0d\x3a\x28"
     "\x0a\x0c\x0a\x01x\x12\x01y\x22\x04Relu"
     "\x5a\x13\x0a\x01x\x12\x0e\x0a\x0c\x08\x01\x12\x08\x0a\x02\x08\x02\x0a\x02\x08\x03"
     "\x62\x03\x0a\x01y"},
};

enum { SAMPLES = sizeof samples / sizeof *samples };

/* Texts of no format, however near. */
static const char *const strangers[] = {
    "",
    "{\"lxplan\": 1, \"kind\": \"plan\", \"pattern\": {\"kind\": \"pattern\"}}",
    "{\"lxplan\": 1, \"kind\": \"patterns\"}",
    "[{\"kind\": \"pattern\"}]",
    "{\"kind\": \"results\", \"lower\": 1}\n{\"size\": 3}",
    "{\"variables\": 3, \"problem\": {\"requests\": []}}",
    "[{\"schema_version\": 1, \"problem\": {}}]",
    "B,M,N,K\n1,2,3,4\n",
    "a text about lower bounds,\nand more",
};

static const struct lx_graph *read_sample(const struct sample *s)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text(s->file, s->text, strlen(s->text), &st);
    if (!g) fail_msg("%s: %s", s->file, st.text);
    return g;
}

static void test_rows_are_whole(void **state)
{
    (void)state;
    int count = 0;
    for (const struct lx_format *f = lx_formats(); f->name; f++, count++) {
        assert_true(f->name[0] && f->summary && f->summary[0] && f->help && f->help[0] && f->begins &&
                    f->begins[0]);
        assert_ptr_equal(lx_format_find(f->name), f);
        assert_non_null(f->endings[0]);
        assert_true(f->sniff && f->read);
        assert_false(f->write_graph && f->write_buffers);
        assert_true(!f->has_addresses || f->write_buffers);
        for (int i = 0; i < LX_MAX_ENDINGS && f->endings[i]; i++) {
            char name[64];
            assert_int_equal(f->endings[i][0], '.');
            snprintf(name, sizeof name, "folder/name%s", f->endings[i]);
            assert_true(lx_format_ending(name));
        }
        bool sampled = false;
        for (int i = 0; i < SAMPLES; i++) sampled |= strcmp(samples[i].format, f->name) == 0;
        if (!sampled) fail_msg("%s: no sample of it here", f->name);
    }
    assert_true(count > 1 && !lx_format_find("no such format") && !lx_format_ending("notes.txt"));
}

/* Of a text that is in no file, as those of a program that calls the library: it has a name all the same, and can be written
 * as a pattern and read again. */
static void test_texts_without_files(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        struct sample nameless = {samples[i].format, "", samples[i].text};
        const struct lx_graph *g = read_sample(&nameless);
        size_t length;
        lx_status st = {0};
        char *text = lx_graph_to_json(g, &length);
        assert_non_null(text);
        const struct lx_graph *again = lx_graph_of_text("again", text, length, &st);
        if (!again) fail_msg("%s: %s", samples[i].format, st.text);
        assert_true(again->hash == g->hash);
        lx_graph_free(again);
        lx_graph_free(g);
        mem_free(text);
    }
}

/* Each text by exactly one format, whatever the order of the rows. */
static void test_sniffing(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const char *text = samples[i].text;
        size_t length = strlen(text);
        const struct lx_format *found = lx_format_of(text, length);
        if (!found || strcmp(found->name, samples[i].format) != 0)
            fail_msg("%s: taken for %s", samples[i].file, found ? found->name : "nothing");
        size_t mark = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        for (const struct lx_format *f = lx_formats(); f->name; f++)
            if (f->sniff(text + mark, length - mark) != (f == found))
                fail_msg("%s: %s says %s", samples[i].file, f->name, f == found ? "no" : "yes, too");
    }
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        for (const struct lx_format *f = lx_formats(); f->name; f++)
            if (f->sniff(strangers[i], strlen(strangers[i]))) fail_msg("%s takes %s", f->name, strangers[i]);
}

static char *write_in(const struct lx_format *f, const struct lx_graph *g, size_t *length)
{
    lx_status st = {0};
    const struct lx_list *l = g->list;
    struct lx_buffers list = {0};
    if (l) list = (struct lx_buffers){l->buffers, l->buffer_count, l->alignment, l->buffer_ids};
    char *text = f->write_graph ? f->write_graph(g, length) : f->write_buffers(&list, length);
    if (!text) fail_msg("%s: %s", f->name, st.text);
    return text;
}

static void test_round_trips(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const struct lx_format *f = lx_format_find(samples[i].format);
        size_t length;
        if (!f->write_graph && !f->write_buffers) continue;
        const struct lx_graph *a = read_sample(&samples[i]);
        char *text = write_in(f, a, &length);
        assert_ptr_equal(lx_format_of(text, length), f);
        struct sample written = {f->name, samples[i].file, text};
        const struct lx_graph *b = read_sample(&written);
        if (a->hash != b->hash) fail_msg("%s: comes back as another:\n%s", samples[i].file, text);
        assert_string_equal(a->name, b->name);
        mem_free(text);
        lx_graph_free(a);
        lx_graph_free(b);
    }
}

/* A table that no format knows: the message tells how those that there are begin. */
static void test_unknown_tables(void **state)
{
    (void)state;
    static const char text[] = "B,M,N,K\n1,2,3,4\n";
    lx_status st = {0};
    assert_null(lx_graph_of_text("t.csv", text, strlen(text), &st));
    assert_int_equal(st.code, LX_E_SCHEMA);
    for (const struct lx_format *f = lx_formats() + 1; f->name; f++)
        if (strcmp(f->endings[0], ".csv") == 0 &&
            (!strstr(st.text, f->begins) || !strstr(st.text, f->summary)))
            fail_msg("%s is not in: %s", f->name, st.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_whole), cmocka_unit_test(test_texts_without_files),
        cmocka_unit_test(test_sniffing),       cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_unknown_tables),
    };
    return cmocka_run_group_tests_name("formats", tests, NULL, NULL);
}
