/* The way in: finds the command, parses its options, runs it, and reports what went wrong. */
#include "own_plugins.h"
#include "base/file.h"
#include "bench/bench.h"
#include "planning/command_solver.h"
#include "sweep/sweep_out.h"

#include <locale.h>
#include <signal.h>
#include <unistd.h>

/* Log lines as "pass what it says", written at once: a crash must not swallow the line that explains it. */

static const char remedy[] = "this lxplan was built without a log; configure with -DLXPLAN_LOGGING=ON";

static void print_line(void *context, const char *pass, const char *line)
{
    OWNED char *clean = printable(line, 0);
    (void)context;
    fprintf(stderr, "%-10s %s\n", pass, clean ? clean : "(out of memory)");
}

const struct option_row help_rows[] = {{"help", 'h', NULL, "this help; --help all: every option"}, {0}};
const struct option_row json_rows[] = {
    {"json", 0, NULL, "machine-readable JSON on standard output; errors too"}, {0}};
/* For commands whose answer is a file of another form. */
const struct option_row json_error_rows[] = {{"json", 0, NULL, "print errors as JSON on standard output too"},
                                             {0}};
const struct option_row quiet_rows[] = {
    {"quiet", 'q' | MORE, NULL, "print nothing; the exit code is the answer"}, {0}};
const struct option_row output_rows[] = {
    {"output", 'o', "FILE", "write to FILE, completely or not at all (\"-\": standard output)"}, {0}};

/* On standard error; what comes from files must not move the cursor. */
static void main_say(const char *line)
{
    OWNED char *clean = printable(line, 0);
    fprintf(stderr, "lxplan: %s\n", clean ? clean : "out of memory");
}

void note(const struct call *call, const char *format, ...)
{
    char line[1200];
    va_list args;
    if (is_quiet(call)) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    main_say(line);
}

void note_interrupted(const struct call *call, const char *file)
{
    note(call, "%s: interrupted; this is the best plan so far", file);
}

bool read_source(struct call *call, size_t i, struct source *out)
{
    const char *path = call->line.files.at[i];
    out->file = strcmp(path, "-") == 0 ? "standard input" : path;
    out->text = file_read(path, &out->length, &call->st);
    return out->text != NULL;
}

bool goes_to_file(const struct call *call)
{
    const char *path = option_value(&call->line, "output");
    return path && strcmp(path, "-") != 0;
}

bool keep_file(struct call *call, const char *path, const char *data, size_t length)
{
    return file_write(path, data, length, &call->st);
}

bool deliver(struct call *call, char *data, size_t length)
{
    bool ok = true;
    if (goes_to_file(call))
        ok = keep_file(call, option_value(&call->line, "output"), data, length);
    else
        text_add_n(&call->out, data, length);
    mem_free(data);
    return ok;
}

bool option_int(struct call *call, const char *name, int64_t low, int64_t high, int64_t *out)
{
    const char *value = option_value(&call->line, name);
    char what[64];
    if (!value) return true;
    snprintf(what, sizeof what, "--%s", name);
    return lx_parse_int(what, value, low, high, out, &call->st);
}

bool option_word(struct call *call, const char *name, const char *(*word)(int k), int *out)
{
    return word_given(call, name, option_value(&call->line, name), word, out);
}

bool word_given(struct call *call, const char *name, const char *value, const char *(*word)(int k), int *out)
{
    SCOPED(text_free) struct text known = {0};
    if (!value) return true;
    for (int k = 0; word(k); k++)
        if (strcmp(word(k), value) == 0) return *out = k, true;
    add_words(word, " or ", &known);
    status_set(&call->st, LX_E_USAGE, "--%s %s: it must be %s", name, value, known.at ? known.at : "");
    return false;
}

int run_words(struct call *call, int count, char *const *arguments)
{
    const struct command *c = call->command;
    const char *wish = getenv("LXPLAN_LOG");
    if (!options_parse(&call->line, count, arguments, c->options, c->open, &call->st)) return FAILED;
    int n = (int)call->line.files.count;
    if (option_given(&call->line, "help")) {
        command_help(call, n > 0 && strcmp(call->line.files.at[n - 1], "all") == 0, &call->out);
        return EXIT_YES;
    }
    if (n < c->least_files)
        return status_set(&call->st, LX_E_USAGE, "%s: %s is missing; usage: lxplan %s %s", c->name,
                          c->file_word, c->name, c->synopsis),
               FAILED;
    if (n > c->most_files)
        return status_set(&call->st, LX_E_USAGE, "%s: one %s too many (%s); usage: lxplan %s %s", c->name,
                          c->file_word, call->line.files.at[c->most_files], c->name, c->synopsis),
               FAILED;
    if (!command_solvers_add(call)) return FAILED;
    bool asked = option_given(&call->line, "log");
    if ((asked || (wish && *wish)) && !log_to(print_line, NULL)) {
        log_to(NULL, NULL);
        if (asked) return status_set(&call->st, LX_E_USAGE, "--log: %s", remedy), FAILED;
        note(call, "LXPLAN_LOG is set, but %s", remedy);
    }
    return c->run(call);
}

/* A solver of a plug-in. */
static bool take_in(void *context, const struct lx_solver *s, lx_status *st)
{
    (void)context;
    return lx_solver_add(s) ||
           status_set(st, LX_E_DUPLICATE,
                      "a plug-in brings a solver %.60s, which is there already, or one too many", s->name);
}

static int main_run(struct call *call, int count, char *const *arguments)
{
    const char *word = count > 0 ? arguments[0] : NULL;
    if (!word && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        call->command = &command_explore;
        return run_words(call, 0, NULL);
    }
    if (!word) {
        note(call, "no terminal: plans the bundled patterns with every solver, which takes some seconds");
        if (!front_page(&call->out)) general_help(&call->out);
        return EXIT_YES;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        text_format(&call->out, "lxplan %s\n", lx_version());
        return EXIT_YES;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return run_help(call, 0, NULL);
    if (strcmp(word, "help") == 0) return run_help(call, count - 1, arguments + 1);
    if (word[0] == '-')
        return status_set(&call->st, LX_E_USAGE, "%s: a command comes first; `lxplan --help` lists them",
                          word),
               FAILED;
    call->command = command_find(word, &call->st);
    if (!call->command && access(word, F_OK) == 0) { /* a file or a folder: the explorer */
        call->command = &command_explore;
        return run_words(call, count, arguments);
    }
    if (!call->command) return FAILED;
    return run_words(call, count - 1, arguments + 1);
}

/* Searched before the options are parsed, so that errors in them are reported as JSON too. */
static bool json_is_asked_for(int count, char *const *arguments)
{
    for (int i = 0; i < count && strcmp(arguments[i], "--") != 0; i++)
        if (strcmp(arguments[i], "--json") == 0) return true;
    return false;
}

/* For a terminal, whatever the command made and forgot to clean: nothing but lines, tabs, colours and what
 * can be seen. */
static void keep_harmless(struct text *out)
{
    struct text clean = {0};
    uint32_t code;
    int columns;
    for (const char *s = out->at; s && *s;) {
        size_t colour = 0, n; /* the length of a change of colour, as colour.c writes it */
        if (paint_is_on() && s[0] == '\033' && s[1] == '[') {
            n = 2 + strspn(s + 2, "0123456789;");
            colour = s[n] == 'm' ? n + 1 : 0;
        }
        n = colour ? colour : 1;
        if (!colour && *s != '\n' && *s != '\t') n = (size_t)next_character(s, &code, &columns);
        bool kept = colour || *s == '\n' || *s == '\t' || code != '?';
        text_add_n(&clean, kept ? s : "?", kept ? n : 1);
        s += n;
    }
    text_free(out);
    *out = clean;
}

/* False when standard output cannot take it. A reader that has gone away wants nothing more: not an error. */
static bool write_out(const struct text *out)
{
    const char *at = out->at;
    for (size_t left = out->length; left > 0;) {
        ssize_t n = write(STDOUT_FILENO, at, left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EPIPE;
        at += n;
        left -= (size_t)n;
    }
    return true;
}

bool send_out(struct call *call)
{
    if (isatty(STDOUT_FILENO)) keep_harmless(&call->out);
    if (!write_out(&call->out))
        return status_set(&call->st, LX_E_IO, "cannot write to standard output: %s", strerror(errno));
    text_free(&call->out);
    return true;
}

static void main_report(const lx_status *st)
{
    char text[1200];
    SCOPED(text_free) struct text place = {0};
    main_say(lx_status_describe(st, text, sizeof text));
    add_source_line(st, 100, &place);
    if (place.at) fputs(place.at, stderr);
}

static int run_in_border(int argc, char **argv)
{
    struct call call = {0};
    /* The user's locale; where this machine lacks it, only its encoding matters. */
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (int i = 0; i < 3 && (!locale || !*locale); i++) locale = getenv(names[i]);
    if (!setlocale(LC_CTYPE, "") && locale && (strcasestr(locale, "UTF-8") || strcasestr(locale, "UTF8")))
        setlocale(LC_CTYPE, "C.UTF-8");
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ,
           SIG_IGN); /* a file that may not grow is an error like others, and nothing is left behind */
    paint_begin();
    planning_begin();
    bench_begin();
    sweep_rows_begin();
    int count = argc > 0 ? argc - 1 : 0;
    /* Plug-in solvers come before any lookup of a solver. */
    own_plugins_begin();
    const char *paths = getenv("LXPLAN_PLUGINS");
    int code = (!paths || lx_plugins_load(paths, take_in, NULL, &call.st))
                   ? main_run(&call, count, argv + (argc > 0))
                   : FAILED;
    if (code == FAILED) {
        main_report(&call.st);
        code = lx_code_exit(call.st.code);
        text_free(&call.out);
        if (json_is_asked_for(count, argv + 1)) {
            text_format(&call.out,
                        "{\"lxplan\": 1, \"kind\": \"error\", \"error\": {\"code\": \"%s\", \"file\": ",
                        lx_code_word(call.st.code));
            if (call.st.file[0])
                text_json_string(&call.out, call.st.file);
            else
                text_add(&call.out, "null");
            if (call.st.line > 0)
                text_format(&call.out, ", \"line\": %d, \"column\": %d, \"text\": ", call.st.line,
                            call.st.column);
            else
                text_add(&call.out, ", \"line\": null, \"column\": null, \"text\": ");
            text_json_string(&call.out, call.st.text);
            text_add(&call.out, "}}\n");
        }
    }
    if (!send_out(&call)) {
        main_report(&call.st);
        code = lx_code_exit(call.st.code);
    }
    text_free(&call.out);
    options_free(&call.line);
    return code;
}

int run_program(int argc, char **argv)
{
    struct border border;
    lx_status st = {0};
    if (border_begin(&border) == 0) {
        int code = run_in_border(argc, argv);
        border_end(&border);
        return code;
    }
    status_no_memory(&st);
    fprintf(stderr, "lxplan: %s\n", st.text);
    if (json_is_asked_for(argc - 1, argv + 1))
        dprintf(STDOUT_FILENO,
                "{\"lxplan\": 1, \"kind\": \"error\", \"error\": {\"code\": \"%s\", \"file\": null, "
                "\"line\": null, \"column\": null, \"text\": \"%s\"}}\n",
                lx_code_word(st.code), st.text);
    return lx_code_exit(st.code);
}
