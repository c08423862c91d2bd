/* Programs of plans: whatever the names in a pattern are, the program is the same but for its comments, from which no
 * name gets out. The input: names of the pattern, its device, tensors and ops, with zeros or lines between them. */
#include "emit/emit.h"
#include "fuzz/fuzz_target.h"
#include "base/text.h"
#include "unstable.h"

enum { NAMES = 8, LONGEST = 300 };

/* %s, in this order: pattern, x, w, y, z, matmul, gelu; the device is set behind it. */
static const char *const before[NAMES - 1] = {
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"device\": {\"preset\": \"h200\"}, \"name\":",
    ", \"tensors\": [{\"shape\": [64, 128], \"dtype\": \"fp16\", \"role\": \"input\", \"name\":",
    "}, {\"shape\": [128, 64], \"dtype\": \"fp16\", \"role\": \"weight\", \"name\":",
    "}, {\"shape\": [64, 64], \"dtype\": \"fp16\", \"name\":",
    "}, {\"shape\": [64, 64], \"dtype\": \"fp16\", \"role\": \"output\", \"name\":",
    ("}], \"ops\": [{\"kind\": \"matmul\", \"einsum\": \"mk,kn->mn\", \"inputs\": [%x, %w], \"output\": %y, "
     "\"name\":"),
    "}, {\"kind\": \"gelu\", \"inputs\": [%y], \"output\": %z, \"name\": "};

static void add_name(struct text *t, char names[NAMES][LONGEST], char which)
{
    text_json_string(t, names[which == 'x' ? 1 : which == 'w' ? 2 : which == 'y' ? 3 : 4]);
}

static char *program_of(char names[NAMES][LONGEST], enum emit_on on)
{
    struct text t = {0}, program = {0};
    lx_status st = {0};
    for (int i = 0; i < NAMES - 1; i++) {
        for (const char *c = before[i]; *c; c++)
            if (*c == '%')
                add_name(&t, names, *++c);
            else
                text_add_n(&t, c, 1);
        text_json_string(&t, names[i]);
    }
    text_add(&t, "}]}");
    const struct lx_graph *g = lx_graph_of_text("emit", t.at, t.length, &st), *named = NULL;
    if (g) {
        struct lx_device d = g->device;
        snprintf(d.preset, sizeof d.preset, "%s", names[NAMES - 1]);
        named = lx_graph_with_device(g, &d);
    } else
        fuzz_refused(&st);
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"), .passes = {.tile = LX_TILE_NONE}};
    struct lx_plan *p = named ? lx_plan_make(named, &how, &st) : NULL;
    fuzz_must(!named || p, "no plan", &st);
    if (p)
        fuzz_must(emit_program(p, &(struct emit_options){.on = on}, &program, NULL, &st), "no program", &st);
    lx_plan_free(p);
    lx_graph_free(named);
    lx_graph_free(g);
    text_free(&t);
    return program.at;
}

/* As a compiler reads it. */
static void take_comments_out(char *text)
{
    char *to = text;
    for (const char *c = text; *c;) {
        if (c[0] == '/' && c[1] == '*') {
            const char *end = strstr(c + 2, "*/");
            fuzz_must(end != NULL, "a comment without an end", NULL);
            c = end + 2;
        } else if (c[0] == '/' && c[1] == '/')
            c += strcspn(c, "\n");
        else
            *to++ = *c++;
    }
    *to = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    static char plain[NAMES][LONGEST] = {"p", "x", "w", "y", "z", "a", "b", "d"};
    char names[NAMES][LONGEST];
    memcpy(names, plain, sizeof names);
    for (int i = 0; i < NAMES && length; i++) {
        size_t n = 0;
        while (n < length && data[n] && data[n] != '\n') n++;
        size_t kept = n < LONGEST - 2 ? n : LONGEST - 2;
        memcpy(names[i], data, kept);
        names[i][kept] = 0;
        if (i >= 1 && i <= 4) snprintf(names[i] + kept, 2, "%d", i); /* four that differ */
        data += n + (n < length), length -= n + (n < length);
    }
    for (int on = 0; on < 2; on++) {
        char *text = program_of(names, (enum emit_on)on), *as_plain = program_of(plain, (enum emit_on)on);
        fuzz_must(as_plain != NULL, "plain names are refused", NULL);
        if (text) {
            take_comments_out(text);
            take_comments_out(as_plain);
            fuzz_must(strcmp(text, as_plain) == 0, "a name is more than a comment", NULL);
        }
        mem_free(text);
        mem_free(as_plain);
    }
    return 0;
}
