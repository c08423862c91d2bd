/* lxplan loops: one contraction, each node of a contraction tree, or a tile of an op of a plan, through the
 * loop passes. */
#include "planning/planning.h"
#include "stages/stages.h"
#include "text/table.h"

/* A core of the device has one thread. */
enum { MOST_PASSES = 32, MOST_SIZES = 1000, DEFAULT_THREADS = 4, CORE_THREADS = 1 };

/* Steps that --run spends on one comparison before it takes samples: well under a second. */
static const int64_t run_steps = (int64_t)1 << 26;

static const struct option_row rows[] = {
    {"einsum", 'e', "TREE",
     "a contraction instead of a file: \"ab,bc->ac\" or \"[0,1],[1,2]->[0,2]\", also nested"},
    {"sizes", 0, "N,N,...",
     "the extents of its indices; letters count in the order in which they first appear"},
    {"op", 0, "NAME", "FILE is a pattern or a plan: the tile of this op that a core computes in one turn"},
    {"passes", 'p', "LIST", "run these passes in this order (default: all): {}"},
    {"rules", 0, "NAME", "what passes and checks go by: {default}"},
    {"threads", 't', "T", "how many threads share the work (default: 4; of an op 1)"},
    {"run", 0, NULL, "execute before and after every pass and compare; then on the device's kernels, timed"},
    {0},
};

static const char *rules_word(int k)
{
    return lx_loop_rules_at(k) ? lx_loop_rules_name(lx_loop_rules_at(k)) : NULL;
}

static const char *pass_word(int k)
{
    if (k < LX_LOOP_PASSES) return lx_loop_pass_at(lx_loop_rules_at(0), k)->name;
    return k == LX_LOOP_PASSES ? "none" : NULL;
}

static const struct option_words words[] = {{"rules", rules_word}, {"passes", pass_word}, {0}};

struct job {
    struct call *call;
    const struct lx_loop_rules *rules;
    int64_t threads;
    const struct lx_loop_pass *passes[MOST_PASSES];
    int pass_count;
    bool run;
    int verdict; /* EXIT_YES or EXIT_NO */
    int nests;   /* written so far */
    int64_t steps;
    bool sampled;
};

static bool choose_passes(struct job *job)
{
    const char *list = option_value(&job->call->line, "passes");
    if (!list) {
        for (; job->pass_count < LX_LOOP_PASSES; job->pass_count++)
            job->passes[job->pass_count] = lx_loop_pass_at(job->rules, job->pass_count);
        return true;
    }
    if (strcmp(list, "none") == 0) return true;
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ",");
        OWNED char *name = mem_string_n(at, n);
        const struct lx_loop_pass *pass = lx_loop_pass_find(name);
        const char *names[LX_LOOP_PASSES + 1] = {0};
        for (int i = 0; i < LX_LOOP_PASSES; i++) names[i] = pass_word(i);
        if (!pass) unknown_word("there is no pass", name, names, LX_E_UNKNOWN_NAME, &job->call->st);
        if (!pass) return false;
        if (job->pass_count == MOST_PASSES)
            return status_set(&job->call->st, LX_E_LIMIT, "more than %d passes", MOST_PASSES);
        job->passes[job->pass_count++] = pass;
        at += n;
        if (!*at) return true;
    }
}

/* Sizes are as many as the tree has indices. */
static bool cmd_loops_read_sizes(struct call *call, int wanted, int64_t *sizes)
{
    const char *at = option_value(&call->line, "sizes");
    int n = 0;
    if (!at) return status_set(&call->st, LX_E_USAGE, "--einsum needs --sizes with %d numbers", wanted);
    for (;; at++) {
        size_t length = strcspn(at, ",");
        char *number = mem_string_n(at, length);
        bool ok =
            n < MOST_SIZES && lx_parse_int("--sizes", number, 1, (int64_t)1 << 53, &sizes[n++], &call->st);
        mem_free(number);
        if (!ok) return n < MOST_SIZES ? false : status_set(&call->st, LX_E_LIMIT, "too many sizes");
        at += length;
        if (!*at) break;
    }
    if (n == wanted) return true;
    return status_set(&call->st, LX_E_USAGE, "--sizes has %d numbers, but the tree has %d indices", n,
                      wanted);
}

struct loop_row {
    int number;
    struct lx_loop loop;
};

static void exec_value(const void *row_of_table, const struct column *column, struct value *v)
{
    static const enum paint paints[LX_EXEC_COUNT] = {
        [LX_EXEC_SEQ] = PAINT_PLAIN, [LX_EXEC_PRIM] = PAINT_HEADING, [LX_EXEC_SHARED] = PAINT_GOOD};
    const struct loop_row *row = row_of_table;
    (void)column;
    v->words = lx_loop_exec_word(row->loop.exec);
    v->paint = paints[row->loop.exec];
}

/* clang-format off */
VALUE_OF(type_value,   struct loop_row, v->words = lx_loop_type_word(row->loop.type);)
VALUE_OF(stride_value, struct loop_row, value_dim(v, row->loop.stride[column->argument]);)

static const struct column loop_array[] = {
    {.key = "loop",       .heading = "",     .kind = VALUE_NUMBER, .flags = COLUMN_DIM, MEMBER(struct loop_row, number)},
    {.key = "type",       .heading = "type", .kind = VALUE_WORDS,  .value = type_value},
    {.key = "exec",       .heading = "exec", .kind = VALUE_WORDS,  .value = exec_value},
    {.key = "size",       .heading = "size", .kind = VALUE_COUNT,  MEMBER(struct loop_row, loop.size)},
    {.key = "stride_in0", .heading = "in0",  .kind = VALUE_COUNT,  .argument = LX_LOOP_IN0, .value = stride_value},
    {.key = "stride_in1", .heading = "in1",  .kind = VALUE_COUNT,  .argument = LX_LOOP_IN1, .value = stride_value},
    {.key = "stride_out", .heading = "out",  .kind = VALUE_COUNT,  .argument = LX_LOOP_OUT, .value = stride_value},
};
/* clang-format on */

const struct columns loop_columns = COLUMNS("loops of a nest", loop_array);

static void write_nest(const struct lx_loops *l, struct text *out)
{
    struct loop_row loops[sizeof l->loop / sizeof *l->loop];
    for (int i = 0; i < l->count; i++) loops[i] = (struct loop_row){i, l->loop[i]};
    table_add_text(&TABLE(loop_columns, loops, l->count), out);
}

static void cmd_loops_add_json(struct text *out, const struct lx_loops *l)
{
    size_t length = 0;
    OWNED char *json = lx_loops_to_json(l, &length);
    text_add_n(out, json, length - 1); /* without the newline */
}

/* After one pass: what changed, and whether it computes the same. */
static bool report_pass(struct job *job, const struct lx_loop_pass *pass, const struct lx_loops *before,
                        const struct lx_loops *after, bool is_first)
{
    struct text *out = &job->call->out;
    bool changed = !lx_loops_equal(before, after), same = true;
    lx_status st = {0};
    int64_t steps = 0;
    if (job->run) {
        same = lx_loops_same(before, after, 1, run_steps, &steps, &st);
        if (!same && st.code != LX_E_NO) return job->call->st = st, false;
        if (!same) job->verdict = EXIT_NO;
        job->steps += steps;
        job->sampled |= steps / 2 < lx_loops_work(before);
    }
    if (wants_json(job->call)) {
        text_format(out, "%s\n{\"pass\": \"%s\", \"changed\": %s", is_first ? "" : ",", pass->name,
                    changed ? "true" : "false");
        if (job->run) text_format(out, ", \"same_result\": %s", same ? "true" : "false");
        text_add(out, ", \"nest\": ");
        cmd_loops_add_json(out, after);
        text_add(out, "}");
        return true;
    }
    paint_add(out, changed ? PAINT_HEADING : PAINT_DIM, pass->name);
    text_format(out, ": %s%s\n", pass->summary, changed ? "" : " (nothing to do)");
    if (!same) {
        paint_add(out, PAINT_BAD, "  changes the result");
        text_format(out, ": %s\n", st.text);
    }
    if (before->main != after->main) text_format(out, "  main is %s now\n", lx_touch_word(after->main));
    if (changed) write_nest(after, out);
    return true;
}

static void report_end(struct job *job, const struct lx_loops *l, const struct lx_loops *input)
{
    struct text *out = &job->call->out;
    lx_status st = {0};
    int number = lx_loops_validate(l, job->rules, &st);
    if (number) job->verdict = EXIT_NO;
    if (wants_json(job->call)) {
        text_format(out, "],\n\"valid\": %s, \"error\": %d, \"code\": \"%s\", \"text\": ",
                    number ? "false" : "true", number, lx_code_word(st.code));
        text_json_string(out, number ? st.text : "");
        if (job->run)
            text_format(out, ", \"steps\": %" PRId64 ", \"sampled\": %s", job->steps,
                        job->sampled ? "true" : "false");
        if (job->run && !report_device(job->call, l, input, job->threads)) job->verdict = EXIT_NO;
        text_add(out, "}");
        return;
    }
    text_add(out, "valid: ");
    paint_add(out, number ? PAINT_BAD : PAINT_GOOD, number ? "no" : "yes");
    if (number) text_format(out, ", error %d (%s): %s", number, lx_code_word(st.code), st.text);
    text_add(out, "\n");
    if (job->run && job->verdict == EXIT_YES)
        text_format(out, "run: the same result after every pass (%s%s)\n", counted(job->steps, "step").at,
                    job->sampled ? ", a sample of the output" : "");
    if (job->run && !report_device(job->call, l, input, job->threads)) job->verdict = EXIT_NO;
}

static bool cmd_loops_do_nest(struct job *job, const struct lx_loops *input, const char *what)
{
    struct text *out = &job->call->out;
    struct lx_loops now = *input;
    job->steps = 0;
    job->sampled = false;
    if (wants_json(job->call)) {
        text_format(out, "%s\n{\"name\": ", job->nests ? "," : "");
        text_json_string(out, what);
        text_add(out, ", \"input\": ");
        cmd_loops_add_json(out, input);
        text_add(out, ",\n\"passes\": [");
    } else {
        if (job->nests > 0) text_add(out, "\n");
        paint_add(out, PAINT_HEADING, what);
        text_format(out, ": first touch %s, main %s, last touch %s, %s; rules %s, %s\n",
                    lx_touch_word(input->first), lx_touch_word(input->main), lx_touch_word(input->last),
                    lx_loop_dtype_word(input->dtype), lx_loop_rules_name(job->rules),
                    counted(job->threads, "thread").at);
        write_nest(input, out);
    }
    for (int i = 0; i < job->pass_count; i++) {
        struct lx_loops before = now;
        if (!lx_loops_run_pass(&now, job->passes[i], job->rules, job->threads, &job->call->st) ||
            !report_pass(job, job->passes[i], &before, &now, i == 0))
            return false;
    }
    report_end(job, &now, input);
    job->nests++;
    return true;
}

static bool do_tree(struct job *job, const char *text)
{
    struct call *call = job->call;
    int64_t sizes[MOST_SIZES];
    int count = lx_tree_indices(text, &call->st);
    if (count < 0 || !cmd_loops_read_sizes(call, count, sizes)) return false;
    struct lx_tree *t = lx_tree_parse(text, sizes, count, &call->st);
    bool ok = t != NULL;
    for (int i = 0; ok && i < t->node_count; i++) {
        const struct lx_tree_node *n = &t->nodes[i];
        struct lx_loops nest;
        struct text name = {0};
        if (n->left < 0) continue;
        text_add(&name, n->right < 0 ? "transposition to [" : "contraction to [");
        for (int d = 0; d < n->rank; d++) text_format(&name, "%s%d", d ? "," : "", n->index[d]);
        text_add(&name, "]");
        ok = lx_tree_lower(t, i, &nest, NULL, &call->st) &&
             cmd_loops_do_nest(job, &nest, name.at ? name.at : "");
        text_free(&name);
    }
    if (ok && job->run && !wants_json(call)) {
        if (!report_tree(call, t, job->rules, job->threads)) {
            ok = call->st.code == LX_OK;
            job->verdict = EXIT_NO;
        }
    }
    lx_tree_free(t);
    return ok;
}

/* The nest of a file, or the nest that the device runs for a tile of an op. */
static bool cmd_loops_do_file(struct job *job, const char *name)
{
    struct call *call = job->call;
    struct lx_loops nest;
    struct lx_op_nest tile = {0};
    struct source from = {0};
    if (!name) {
        const char *path = call->line.files.at[0];
        OWNED char *shown = printable(strcmp(path, "-") == 0 ? "standard input" : path, 0);
        bool ok = lx_loops_read(path, &nest, &call->st) && cmd_loops_do_nest(job, &nest, shown);
        return ok;
    }
    SCOPED(plan_free_at) struct lx_plan *p = read_source(call, 0, &from) ? plan_of_text(call, &from) : NULL;
    int32_t op = 0, count = p && p->layouts ? p->layouts->graph->op_count : 0;
    while (op < count && strcmp(p->layouts->graph->ops[op].name, name) != 0) op++;
    bool ok =
        p && (op < count || status_set(&call->st, LX_E_UNKNOWN_NAME,
                                       "there is no op %s in the plan; `--stage loops` lists them", name));
    ok = ok && lx_nest_of(p, op, &tile, &call->st);
    if (ok && tile.kind == LX_NEST_NONE)
        ok = status_set(&call->st, LX_E_UNSUPPORTED, "op %s has no loop nest: %s", name, tile.why);
    ok = ok && cmd_loops_do_nest(job, &tile.nest, name);
    mem_free(from.text);
    return ok;
}

static int cmd_loops_run(struct call *call)
{
    struct job job = {.call = call, .verdict = EXIT_YES, .run = option_given(&call->line, "run")};
    const char *tree = option_value(&call->line, "einsum"), *op = option_value(&call->line, "op"),
               *stray = NULL;
    bool has_file = call->line.files.count > 0;
    int rules = 0;
    if (has_file == (tree != NULL))
        return status_set(&call->st, LX_E_USAGE,
                          has_file ? "a file and --einsum together; choose one"
                                   : "loops: CONFIG is missing; give a file or --einsum"),
               FAILED;
    if (tree && op)
        return status_set(&call->st, LX_E_USAGE, "--op goes with a file, not with --einsum"), FAILED;
    /* Options that make a plan mean nothing where there is none. */
    for (int i = 0; i < lx_settings_count() && !op && !stray; i++)
        if (option_given(&call->line, lx_settings_at(i).name)) stray = lx_settings_at(i).name;
    if (!op && !stray) stray = model_option_given(call);
    if (stray) return status_set(&call->st, LX_E_USAGE, "--%s goes with --op", stray), FAILED;
    if (!option_word(call, "rules", rules_word, &rules)) return FAILED;
    job.rules = lx_loop_rules_at(rules);
    job.threads = op ? CORE_THREADS : DEFAULT_THREADS;
    if (!option_int(call, "threads", 1, 1 << 16, &job.threads) || !choose_passes(&job)) return FAILED;
    if (wants_json(call))
        text_format(&call->out,
                    "{\"lxplan\": 1, \"kind\": \"loops_report\", \"rules\": \"%s\", \"threads\": %" PRId64
                    ", \"nests\": [",
                    lx_loop_rules_name(job.rules), job.threads);
    bool ok = tree ? do_tree(&job, tree) : cmd_loops_do_file(&job, op);
    if (wants_json(call)) text_add(&call->out, "]}\n");
    return ok ? job.verdict : FAILED;
}

static void passes_help(const struct call *call, struct text *out)
{
    (void)call;
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, "passes:\n");
    for (int i = 0; i < LX_LOOP_PASSES; i++) {
        const struct lx_loop_pass *pass = lx_loop_pass_at(lx_loop_rules_at(0), i);
        help_entry(out, pass->name, pass->summary);
    }
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, "rules:\n");
    for (int i = 0; lx_loop_rules_at(i); i++)
        help_entry(out, lx_loop_rules_name(lx_loop_rules_at(i)), lx_loop_rules_summary(lx_loop_rules_at(i)));
}

static const struct option_row *const tables[] = {rows,      planning_rows, json_rows,
                                                  help_rows, model_rows,    NULL};

const struct command command_loops = {
    .name = "loops",
    .synopsis = "CONFIG | --einsum TREE --sizes N,N,... | FILE --op NAME [options]",
    .summary = "Take a contraction through the loop passes, and run it",
    .details = "CONFIG is a file of kind \"loops\" (\"-\": standard input); FILE a pattern or a plan, of "
               "which one tile\n"
               "of an op is shown as the device runs it. Prints the nest before and after each pass.\n"
               "Exit code 0: valid; 1: not (or, with --run, a pass or the kernels changed the result); 2: "
               "bad input.\n",
    .options = tables,
    .words = words,
    .least_files = 0,
    .most_files = 1,
    .file_word = "CONFIG",
    .run = cmd_loops_run,
    .more_help = passes_help,
};
