/* Cases with a menu of core divisions per buffer: solved together, and held against what the case says. */
#include "cases/solver_form.h"
#include "cases/captured_tiles.h"

#include <ctype.h>
#include <stdio.h>

static bool any_tiling(const cJSON *one)
{
    const cJSON *b, *d;
    cJSON_ArrayForEach(b, cjson_find(one, "buffers"))
        cJSON_ArrayForEach(d, cjson_find(b, "core_divisions")) if (cjson_find(d, "tiling")) return true;
    return false;
}

/* An input that is read on the very tick on which its reader's output begins has no op of its own. */
static bool shared_tick(const cJSON *one)
{
    const cJSON *a, *b;
    cJSON_ArrayForEach(
        a, cjson_find(one,
                      "buffers")) for (b = a->next; b;
                                       b = b->next) if (case_int(cJSON_GetArrayItem(cjson_find(a, "uses"), 0),
                                                                 -1) ==
                                                        case_int(cJSON_GetArrayItem(cjson_find(b, "uses"), 0),
                                                                 -2)) return true;
    return false;
}

/* "32000/cores": every op costs that, and traffic nothing. */
static bool add_objective(struct captured *p, const char *objective)
{
    char *rest;
    double whole = strtod(objective, &rest);
    if (!*objective || strcmp(rest, "/cores") != 0) return !*objective;
    struct lx_joint_op *ops =
        arena_copy_array(&p->memory, p->problem.ops, (size_t)p->problem.op_count, sizeof *ops);
    struct lx_joint_buffer *buffers =
        arena_copy_array(&p->memory, p->problem.buffers, (size_t)p->problem.buffer_count, sizeof *buffers);
    if (!ops || !buffers) return false;
    p->problem.ops = ops;
    p->problem.buffers = buffers;
    for (int32_t o = 0; o < p->problem.op_count; o++) {
        int64_t *extra = arena_array(&p->memory, (size_t)ops[o].choice_count, sizeof *extra);
        if (!extra) return false;
        for (int32_t c = 0; c < ops[o].choice_count; c++)
            extra[c] = (int64_t)whole /
                       captured_parts(cJSON_GetArrayItem(cjson_find(p->json[o], "core_divisions"), c), false);
        ops[o].extra = extra;
    }
    for (int32_t i = 0; i < p->problem.buffer_count; i++) {
        struct lx_joint_access *free_of_toll = arena_copy_array(
            &p->memory, buffers[i].accesses, (size_t)buffers[i].access_count, sizeof *free_of_toll);
        if (!free_of_toll) return false;
        for (int32_t k = 0; k < buffers[i].access_count; k++) free_of_toll[k].toll = 0;
        buffers[i].accesses = free_of_toll;
    }
    return true;
}

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++) {
        bool starts = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (starts && !(isalnum((unsigned char)at[n]) || at[n] == '_')) return true;
    }
    return false;
}

/* Which buffers a clause names; without any: all, or those of the clause before. */
static int named(const struct captured *p, const char *clause, bool *is, int before)
{
    int count = 0;
    bool all_but = strstr(clause, "all but ") != NULL;
    for (int32_t i = 0; i < p->problem.buffer_count; i++)
        count += has_word(clause, p->problem.buffers[i].name);
    if (count == 0 && before > 0) return before;
    for (int32_t i = 0; i < p->problem.buffer_count; i++)
        is[i] = count == 0 || has_word(clause, p->problem.buffers[i].name) != all_but;
    return count ? count : p->problem.buffer_count;
}

static void expect_place(struct cases *c, const struct captured *p, const struct lx_joint_answer *a,
                         int32_t i, bool on)
{
    case_expect(c, (a->address[i] >= 0) == on, "expected %s %s chip, got address %lld",
                p->problem.buffers[i].name, on ? "on" : "off", (long long)a->address[i]);
}

/* "tiled", "untiled" or "takes d1:2", of the division that was chosen. False: nothing of the kind. */
static bool expect_tiling(struct cases *c, const struct captured *p, const struct lx_joint_answer *a,
                          const char *clause, int32_t i)
{
    const char *name = p->problem.buffers[i].name, *takes = strstr(clause, " takes ");
    const cJSON *division = cJSON_GetArrayItem(cjson_find(p->json[i], "core_divisions"), a->choice[i]);
    int64_t tiles = captured_product(cjson_find(division, "tiling"));
    bool untiled = strstr(clause, " untiled"), tiled = strstr(clause, " tiled");
    if (tiled || untiled)
        case_expect(c, (tiles > 1) == tiled, "expected %s %s, got %lld tiles", name,
                    tiled ? "tiled" : "untiled", (long long)tiles);
    if (takes) {
        char axis[40] = "", *colon;
        snprintf(axis, sizeof axis, "%s", takes + 7);
        if ((colon = strchr(axis, ':'))) *colon = 0;
        const cJSON *v = cjson_find(cjson_find(division, "tiling"), axis);
        case_expect(c, colon && case_int(v, 1) == strtoll(colon + 1, NULL, 10), "expected %s to take %s",
                    name, takes + 7);
    }
    return tiled || untiled || takes;
}

/* What is said after the names. False: not understood. */
static bool expect_of(struct cases *c, const struct captured *p, const struct lx_joint_answer *a,
                      const char *clause, const bool *is)
{
    const struct lx_joint_problem *q = &p->problem;
    const char *ways = strstr(clause, "-way split"), *division = strstr(clause, "division "),
               *cost = strstr(clause, "cost "), *quote = strchr(clause, '"');
    bool on = said_place(clause) == SAID_ON, off = said_place(clause) == SAID_OFF;
    bool one_address = strstr(clause, "one address") || strstr(clause, "at the address of");
    bool verbatim = strstr(clause, "verbatim") != NULL, understood = false;
    while (ways && ways > clause && isdigit((unsigned char)ways[-1])) ways--;
    int32_t first = -1;
    for (int32_t i = 0; i < q->buffer_count; i++) {
        if (!is[i]) continue;
        if (on || off) expect_place(c, p, a, i, on);
        understood |= expect_tiling(c, p, a, clause, i);
        if (one_address && first >= 0)
            case_expect(c, a->address[i] == a->address[first] && a->address[i] >= 0,
                        "expected %s and %s at one address, got %lld and %lld", q->buffers[first].name,
                        q->buffers[i].name, (long long)a->address[first], (long long)a->address[i]);
        if (first < 0) first = i;
        int64_t parts =
            captured_parts(cJSON_GetArrayItem(cjson_find(p->json[i], "core_divisions"), a->choice[i]), false);
        if (ways)
            case_expect(c, parts == strtoll(ways, NULL, 10), "expected %s on the %.6s, got %lld",
                        q->buffers[i].name, ways, (long long)parts);
        if (division)
            case_expect(c, a->choice[i] == (int32_t)strtoll(division + 9, NULL, 10),
                        "expected %s with %s, got %d", q->buffers[i].name, clause, (int)a->choice[i]);
        if (quote)
            case_expect(c, lx_joint_label(q, a->choice, i) < 0, "expected %s to mismatch",
                        q->buffers[i].name);
        if (verbatim)
            case_expect(c, q->buffers[i].reason != NULL && a->address[i] < 0,
                        "expected %s off chip for the reason it came with", q->buffers[i].name);
    }
    if (cost)
        case_expect(c, a->objective == strtoll(cost + 5, NULL, 10), "expected a %s, got %lld", cost,
                    (long long)a->objective);
    understood |= on || off || one_address || ways || division || cost || verbatim;
    return understood && first >= 0;
}

static void expect_all(struct cases *c, const struct captured *p, const struct lx_joint_answer *a,
                       const char *sentence)
{
    bool is[256] = {false};
    int before = 0;
    char clause[300];
    if (!case_expect(c, *sentence && p->problem.buffer_count <= 256, "it expects nothing")) return;
    while (next_clause(&sentence, clause, sizeof clause)) {
        before = named(p, clause, is, before);
        case_expect(c, expect_of(c, p, a, clause, is), "data that is not understood: \"%s\"", clause);
    }
}

/* An objective that is not understood fails the case; one that must be refused is none of these. */
static void solve_and_expect(struct cases *c, const cJSON *one, struct captured *p)
{
    struct arena memory = {0};
    struct lx_joint_answer a;
    lx_status st = {0};
    struct lx_joint_options how = {.mode = LX_JOINT_FULL, .solver = lx_solver_find("exact")};
    bool solved = case_expect(c, add_objective(p, case_text(one, "objective")),
                              "data that is not understood: %s", case_text(one, "objective")) &&
                  lx_joint_search(&p->problem, &how, &memory, &a, &st);
    if (case_refusal(one))
        case_expect(c, !solved, "expected an error (%s), got an answer", case_refusal(one));
    else if (case_expect(c, solved, "expected an answer, but: %s", st.text)) {
        case_expect(c, p->problem.tiled || captured_agrees(p, a.choice, a.address),
                    "expected matching divisions on chip");
        case_expect(c, !p->problem.tiled || a.status == LX_OPTIMAL, "expected a proof, got %s",
                    lx_verdict_word(a.status));
        expect_all(c, p, &a, case_text(one, "expect"));
    }
    arena_free(&memory);
}

const char *check_divisions(struct cases *c, const cJSON *one)
{
    struct captured p;
    if (shared_tick(one)) return "an input with a division of its own, on its reader's tick";
    bool ok = captured_read(&p, cjson_find(one, "buffers"), case_int(cjson_find(one, "size"), 0),
                            case_int(cjson_find(one, "alignment"), 1));
    if (ok && any_tiling(one)) ok = captured_tiles(&p);
    if (case_expect(c, ok || case_refusal(one), "expected a problem that can be read") && ok)
        solve_and_expect(c, one, &p);
    arena_free(&p.memory);
    return NULL;
}
