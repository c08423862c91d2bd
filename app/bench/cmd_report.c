/* lxplan report: tables, plots and comparisons of what bench has written. */
#include "bench/report.h"

#include <sys/ioctl.h>
#include <unistd.h>

/* With more cells the table of instances is shown only on request. */
enum { FEW_CELLS = 60 };

static const struct option_row rows_of_report[] = {
    {"format", 'f', "WHAT", "{default}"},
    {"by", 0, "WHAT",
     "solver, instance, statistics or class (of the suite): the table of csv; in text and md, show it "
     "however long it is"},
    {"within", 0, "PERCENT",
     "an answer this far above the best value still counts as reaching it (default 0)"},
    {"plot", 0, NULL, "performance profile and cactus plot as text"},
    {"svg", 0, "FILE", "both plots as SVG"},
    {"html", 0, NULL, "the same as --format html: one file for a browser, with plots and tables that sort"},
    {"compare", 0, NULL, "compare the first file with the others (the rule with exactly two files)"},
    {"all", 0, NULL, "of a comparison, every pair in text and md, not only what changed"},
    {"fail-on", 0, "LIST", "exit code 1 when a comparison has worse, slower or missing pairs"},
    {"merge", 0, NULL, "one report over all files, also with exactly two"},
    {"output", 'o', "FILE", "write to FILE, completely or not at all (\"-\": standard output)"},
    {0},
};

/* The exporters, then html. */
static const char *cmd_report_format_word(int k)
{
    int n = 0;
    while (exporters[n].name) n++;
    return k < n ? exporters[k].name : k == n ? html_exporter.name : NULL;
}

static WORD_LIST(by_word, "solver", "instance", "statistics", "class")

    /* The words of --fail-on. */
    enum failing {
        FAIL_WORSE,
        FAIL_SLOWER,
        FAIL_MISSING,
        FAILINGS
    };

static WORD_LIST(failing_word, "worse", "slower", "missing") /* in the order of the enum */

    static const struct option_words words[] = {
        {"format", cmd_report_format_word}, {"by", by_word}, {"fail-on", failing_word}, {0}};

/* "worse,slower" into a set of bits. */
static bool read_failing(struct call *call, unsigned *set)
{
    const char *list = option_value(&call->line, "fail-on");
    *set = 0;
    while (list && *list) {
        size_t n = strcspn(list, ",");
        int k = 0;
        while (k < FAILINGS && (strlen(failing_word(k)) != n || strncmp(failing_word(k), list, n) != 0)) k++;
        if (k == FAILINGS)
            return status_set(&call->st, LX_E_USAGE,
                              "--fail-on %.*s: it must be a list of worse, slower and missing", (int)n, list);
        *set |= 1u << k;
        list += n + (list[n] == ',');
    }
    return true;
}

static const struct exporter *read_format(struct call *call)
{
    int k = 0;
    if (!option_word(call, "format", cmd_report_format_word, &k)) return NULL;
    bool given = option_given(&call->line, "format"), html = option_given(&call->line, "html");
    if (html || strcmp(cmd_report_format_word(k), html_exporter.name) == 0) return &html_exporter;
    return !given && wants_json(call) ? exporter_find("json") : &exporters[k];
}

/* The columns of the terminal that the report goes to; 0: it goes to none. */
static int report_columns(const struct call *call)
{
    struct winsize size;
    bool to_file = call->command == &command_report && goes_to_file(call);
    return !to_file && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col
                                                                                             : 0;
}

enum by { BY_SOLVER, BY_INSTANCE, BY_STATISTICS, BY_CLASS };

static void export_tables(const struct exporter *e, const struct verdict *v, const struct table *tables_of,
                          size_t count, size_t chosen, bool at_end, struct text *out)
{
    text_add(out, e->begin);
    if (e->say) e->say(v->words, v->lines, v->paint, out);
    for (size_t i = 0; i < count; i++)
        if (e->whole || i == chosen) e->add(&tables_of[i], out);
    if (e->end) e->end(out);
    /* On a terminal the first lines have scrolled away. */
    if (at_end && e->say && strcmp(e->name, "text") == 0) {
        text_add(out, "\n");
        e->say(v->words, "", v->paint, out);
    }
}

static bool add_plots(struct call *call, const struct exporter *e, const struct summary *s, struct text *out)
{
    const char *svg = option_value(&call->line, "svg"),
               *title = call->line.files.count ? call->line.files.at[0] : "";
    bool plot = option_given(&call->line, "plot"), page = e == &html_exporter, ok = true;
    struct figure figures[2] = {{0}};
    if ((!svg && !plot && !page) || s->solvers.count == 0) {
        if (page) report_page(title, s, NULL, 0, out);
        return true;
    }
    if (plot && strcmp(e->name, "text") != 0)
        return status_set(&call->st, LX_E_USAGE, "--plot goes with --format text; --svg FILE with any");
    profile_figure(s, &figures[0]);
    cactus_figure(s, &figures[1]);
    for (int i = 0; plot && i < 2; i++) plot_as_text(&figures[i], out);
    if (page) report_page(title, s, figures, 2, out);
    if (svg) {
        SCOPED(text_free) struct text picture = {0};
        plots_as_svg(figures, &picture);
        ok = keep_file(call, svg, picture.at, picture.length);
    }
    figure_free(&figures[0]);
    figure_free(&figures[1]);
    return ok;
}

/* Formats whose readers want the verdict, not every row. */
static bool is_for_people(const struct exporter *e)
{
    return strcmp(e->name, "json") != 0 && e != &html_exporter && e->whole;
}

enum { SOLVERS, CLASSES, INSTANCES, STATISTICS, FAULTS, BESIDE, TABLES_OF_REPORT };

/* People get long tables and tables for experts only on request; the verdict sums them up. */
static void write_report(const struct exporter *e, struct summary *s, const struct results *r, int by,
                         bool at_end, struct text *out)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct table report[TABLES_OF_REPORT];
    struct verdict verdict;
    contender_table(s, &memory, &report[SOLVERS]);
    class_table(s, &memory, &report[CLASSES]);
    instance_table(s, &memory, &report[INSTANCES]);
    statistic_table(s, r, &memory, &report[STATISTICS]);
    mishap_table(s, r, &memory, &report[FAULTS]);
    verdict_make(s, &memory, &verdict, &report[BESIDE]);
    if (is_for_people(e)) {
        bool many = s->problems.count * s->solvers.count > FEW_CELLS, hidden = many && by != BY_INSTANCE;
        report[BESIDE].row_count = 0;
        if (hidden || by == BY_STATISTICS) report[INSTANCES].row_count = 0;
        if (by != BY_STATISTICS) report[STATISTICS].row_count = 0;
        if (hidden)
            report[SOLVERS].notes =
                arena_format(&memory, "%s--by instance lists the instances.\n", report[SOLVERS].notes);
    }
    static const int chosen[] = {
        [BY_SOLVER] = SOLVERS, [BY_INSTANCE] = INSTANCES, [BY_STATISTICS] = STATISTICS, [BY_CLASS] = CLASSES};
    export_tables(e, &verdict, report, TABLES_OF_REPORT, (size_t)chosen[by], at_end, out);
}

bool report_rows(struct call *call, struct results *r, struct text *out)
{
    const struct exporter *e = read_format(call);
    const char *percent = option_value(&call->line, "within");
    SCOPED(summary_free) struct summary s = {0};
    double within = 0;
    int by = BY_SOLVER;
    if (!e || (percent && !lx_parse_number("--within", percent, &within, &call->st))) return false;
    if (!(within >= 0 && within <= 1e6))
        return status_set(&call->st, LX_E_USAGE, "--within %s: it must be 0 or above", percent);
    if (!option_word(call, "by", by_word, &by)) return false;
    if (r->rows.count == 0) note(call, "there are no runs to report on");
    mark_contradictions(r);
    summary_make(&s, r, within / 100);
    table_fit(report_columns(call));
    write_report(e, &s, r, by, report_columns(call) > 0, out);
    return add_plots(call, e, &s, out);
}

/* Notes differences of two files that make their times hard to compare. */
static void note_differences(const struct call *call, const struct results *a, const struct results *b)
{
    static const char *const keys[] = {"host",  "cpu",  "limits",    "compiler",
                                       "flags", "jobs", "objective", "lx"};
    SCOPED(json_free) struct json x = header_read(a->headers.at[0]), y = header_read(b->headers.at[0]);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct json_value *m = header_member(&x, keys[i]), *n = header_member(&y, keys[i]);
        if (m && n && !json_same(m, n))
            note(call, "%s and %s differ in \"%s\"; their times may not compare", a->files.at[0],
                 b->files.at[0], keys[i]);
    }
    if (provenance_ranks(a->headers.at[0]) != provenance_ranks(b->headers.at[0]))
        note(call, "%s and %s differ in \"ranks\"; their times may not compare", a->files.at[0],
             b->files.at[0]);
}

/* Adds the comparison with one file; *fails when it has what it must not have. */
static bool compare_with(struct call *call, const struct exporter *e, struct results *before,
                         const char *path, struct text *out, bool *fails)
{
    SCOPED(results_free) struct results after = {0};
    SCOPED(arena_free) struct arena memory = {0};
    struct comparison c;
    unsigned failing;
    bool all = option_given(&call->line, "all") || !is_for_people(e),
         ok = read_failing(call, &failing) && results_read(&after, path, &call->st);
    if (ok) {
        for (size_t i = 0; i < after.problems.count; i++) note(call, "%s", after.problems.at[i]);
        mark_contradictions(&after);
        compare_results(before, &after, !all, &memory, &c);
    }
    if (ok && c.pairs == 0) ok = nothing_shared(before, &after, &call->st);
    if (ok) {
        note_differences(call, before, &after);
        if (out->length) text_add(out, "\n");
        export_tables(e, &c.verdict, (struct table[]){c.cells, c.sums}, 2, 0, report_columns(call) > 0, out);
        if (e == &html_exporter) report_page(path, NULL, NULL, 0, out);
        const int64_t counts[FAILINGS] = {
            [FAIL_WORSE] = c.worse, [FAIL_SLOWER] = c.slower, [FAIL_MISSING] = c.missing};
        for (int k = 0; k < FAILINGS; k++) {
            if (!(failing & 1u << k) || counts[k] == 0) continue;
            note(call, "failed on %s: %lld of %lld pairs", failing_word(k), (long long)counts[k],
                 (long long)(c.pairs + (k == FAIL_MISSING ? c.missing : 0)));
            *fails = true;
        }
    }
    return ok;
}

static int cmd_report_run(struct call *call)
{
    size_t files = call->line.files.count;
    bool merge = option_given(&call->line, "merge"),
         compare = option_given(&call->line, "compare") || (files == 2 && !merge);
    SCOPED(results_free) struct results r = {0};
    SCOPED(text_free) struct text out = {0};
    const struct exporter *e = read_format(call);
    const struct command_line *l = &call->line;
    const char *wrong = NULL;
    if (compare && (files < 2 || merge))
        wrong = "--compare takes two results files or more, and no --merge";
    else if (compare && (option_given(l, "plot") || option_given(l, "svg")))
        wrong = "a comparison has no plots; --merge makes one report of both files";
    else if (!compare && (option_given(l, "fail-on") || option_given(l, "all")))
        wrong = "--fail-on and --all are about a comparison; give two results files, or --compare";
    bool fails = false, ok = e && (!wrong || status_set(&call->st, LX_E_USAGE, "%s", wrong));
    if (ok && compare && files > 2 && strcmp(e->name, "text") != 0 && strcmp(e->name, "md") != 0)
        ok = status_set(&call->st, LX_E_USAGE, "--format %s takes one comparison at a time", e->name);
    if (goes_to_file(call)) paint_off();
    for (size_t i = 0; ok && i < (compare ? 1 : files); i++)
        ok = results_read(&r, call->line.files.at[i], &call->st);
    for (size_t i = 0; ok && i < r.problems.count; i++) note(call, "%s", r.problems.at[i]);
    if (ok && compare) mark_contradictions(&r);
    for (size_t i = 1; ok && compare && i < files; i++)
        ok = compare_with(call, e, &r, call->line.files.at[i], &out, &fails);
    if (ok && !compare) ok = report_rows(call, &r, &out);
    size_t length = out.length;
    if (ok && (!is_quiet(call) || e != exporters || goes_to_file(call))) {
        ok = deliver(call, out.at ? out.at : mem_string(""), length);
        out = (struct text){0};
    }
    return !ok ? FAILED : fails ? EXIT_NO : EXIT_YES;
}

static const struct option_row *const tables[] = {rows_of_report, json_rows, quiet_rows, help_rows, NULL};

const struct command command_report = {
    .name = "report",
    .synopsis =
        "RESULTS ... [--format text|md|csv|json|html] [--by solver|instance|statistics|class] [--fail-on "
        "LIST] [--plot] [--svg FILE] [options]",
    .summary = "Tables, profiles and plots of benchmark results; compares two files",
    .details =
        "Several files make one report; exactly two are compared: what became faster, slower, better or "
        "worse\n"
        "beyond noise, per instance and solver. The first line is the verdict. Colours on a terminal, "
        "unless\n"
        "NO_COLOR is set. An unreadable line is reported with its place and skipped.\n"
        "Exit code 1: the comparison has a kind that --fail-on names; 2: a file has no results, or there is\n"
        "nothing to compare.\n",
    .options = tables,
    .words = words,
    .least_files = 1,
    .most_files = 1 << 20,
    .file_word = "RESULTS",
    .run = cmd_report_run,
};
