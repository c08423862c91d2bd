/* The manual page: prose by hand in its template, and what the tables know filled in. A line of the template
 * that is one of the marks below is replaced by a section made from rows, so that no option, command or exit
 * code can be missing in it, and none can stay behind. */
#include "base/file.h"
#include "planning/planning.h"

/* Text for troff: literal hyphens, `commands` in bold, no request at the beginning of a line. */
static void add_roff(struct text *out, const char *text)
{
    bool bold = false;
    if (*text == '.' || *text == '\'') text_add(out, "\\&");
    for (; *text; text++) {
        if (*text == '`')
            text_add(out, (bold = !bold) ? "\\fB" : "\\fR");
        else if (*text == '-')
            text_add(out, "\\-");
        else if (*text == '\\')
            text_add(out, "\\e");
        else
            text_add_n(out, text, 1);
    }
}

/* Does it begin with a word to be typed: one with a digit, or a word of the option? */
static bool begins_literally(const char *text, const struct command *c, const char *option)
{
    size_t n = strcspn(text, " ,:;");
    const char *(*word)(int) = c && option ? option_words_of(c->words, option) : NULL;
    for (int k = 0; option; k++) {
        const char *w = word ? word(k) : planning_word(option, k);
        if (!w) break;
        if (strlen(w) == n && memcmp(w, text, n) == 0) return true;
    }
    return strcspn(text, "0123456789") < n;
}

/* A sentence of its own: as helps are, but with a capital letter and an end. */
static void add_sentence(struct text *out, const char *text, bool is_literal)
{
    SCOPED(text_free) struct text sentence = {0};
    text_add(&sentence, text);
    if (!is_literal && sentence.at && islower((unsigned char)sentence.at[0])) sentence.at[0] ^= 0x20;
    if (sentence.length && sentence.at[sentence.length - 1] != '.') text_add(&sentence, ".");
    add_roff(out, sentence.at ? sentence.at : "");
    text_add(out, "\n");
}

static void add_option(const struct command *c, const struct option_row *row, struct text *out)
{
    SCOPED(text_free) struct text help = {0};
    int letter = row->letter & ~MORE;
    text_add(out, ".TP\n");
    if (letter == ANY_DIGIT)
        text_add(out, "\\fB\\-0\\fR ... \\fB\\-9\\fR, ");
    else if (letter)
        text_format(out, "\\fB\\-%c\\fR, ", letter);
    text_add(out, "\\fB\\-\\-");
    add_roff(out, row->name);
    text_add(out, "\\fR");
    if (row->argument) {
        text_add(out, " \\fI");
        add_roff(out, row->argument);
        text_add(out, "\\fR");
    }
    text_add(out, "\n");
    add_help(row, c ? c->words : NULL, &help);
    const char *text = help.at ? help.at : "";
    add_sentence(out, text, begins_literally(text, c, row->name));
}

static bool has_table(const struct command *c, const struct option_row *rows)
{
    for (const struct option_row *const *table = c->options; *table; table++)
        if (*table == rows) return true;
    return false;
}

/* "explore, plan and run": the commands that have a table. */
static void add_users(struct text *out, const struct option_row *rows)
{
    int n = 0, k = 0;
    for (const struct command *const *c = commands; *c; c++) n += has_table(*c, rows);
    for (const struct command *const *c = commands; *c; c++) {
        if (!has_table(*c, rows)) continue;
        text_format(out, "%s\\fB%s\\fR", k == 0 ? "" : k + 1 < n ? ", " : " and ", (*c)->name);
        k++;
    }
}

static void manual_add_options(struct text *out)
{
    text_add(out, ".SS Planning options\nOf ");
    add_users(out, planning_rows);
    text_add(out, ".\n");
    for (int g = 0; g < LX_GROUP_COUNT; g++) {
        enum lx_option_group group = (enum lx_option_group)g;
        text_format(out, ".PP\n%s:\n", lx_option_group_word(group));
        for (int i = 0; planning_rows[i].name; i++) {
            bool of_table = i < lx_settings_count();
            if ((of_table ? lx_settings_at(i).group : LX_GROUP_PASSES) == group)
                add_option(NULL, &planning_rows[i], out);
        }
    }
    text_add(out, ".SS Parameters of a device\nOf \\fB\\-D\\fR \\fIKEY=VALUE\\fR:\n.TP\n\\fBpreset\\fR\nA "
                  "whole device: ");
    for (int i = 0; lx_device_at(i); i++)
        text_format(out, "%s\\fB%s\\fR",
                    i == 0                ? ""
                    : lx_device_at(i + 1) ? ", "
                                          : " or ",
                    lx_device_at(i)->preset);
    text_add(out, ".\n");
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++) {
        text_format(out, ".TP\n\\fB%s\\fR\n", p->key);
        add_sentence(out, p->help, begins_literally(p->help, NULL, NULL));
    }
    text_add(out, ".SS Options of models\nHow a file of TTIR, HLO or ONNX is imported, of ");
    add_users(out, model_rows);
    text_add(out, ".\n");
    for (const struct option_row *row = model_rows; row->name; row++) add_option(NULL, row, out);
    for (const struct command *const *c = commands; *c; c++) {
        text_format(out, ".SS lxplan %s\n", (*c)->name);
        for (const struct option_row *const *table = (*c)->options; *table; table++)
            if (*table == planning_rows) text_add(out, "The planning options, and:\n");
        for (const struct option_row *const *table = (*c)->options; *table; table++)
            for (const struct option_row *row = *table; row->name; row++)
                if (*table != planning_rows && *table != model_rows) add_option(*c, row, out);
    }
}

static void add_synopsis(struct text *out)
{
    text_add(out, ".B lxplan\n");
    for (const struct command *const *c = commands; *c; c++) {
        text_format(out, ".br\n.B lxplan %s\n", (*c)->name);
        add_roff(out, (*c)->synopsis);
        text_add(out, "\n");
    }
    text_add(out, ".br\n.B lxplan help\n[COMMAND]\n");
}

static void add_exit_status(struct text *out)
{
    static const struct {
        int code;
        const char *manual;
    } codes[] = {
#define EXIT_ROW(id, code, brief, manual) {code, manual},
        EXIT_CODES(EXIT_ROW)
#undef EXIT_ROW
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        text_format(out, ".TP\n.B %d\n", codes[i].code);
        add_sentence(out, codes[i].manual, false);
    }
}

static void add_version(struct text *out)
{
    text_add(out, ".TH LXPLAN 1 \"" LXPLAN_DATE "\" \"lxplan " LXPLAN_VERSION "\" \"User Commands\"\n");
}

static const struct {
    const char *mark;
    void (*add)(struct text *out);
} marks[] = {
    {"@TITLE@", add_version},
    {"@SYNOPSIS@", add_synopsis},
    {"@OPTIONS@", manual_add_options},
    {"@EXIT_STATUS@", add_exit_status},
};

enum { MARKS = sizeof marks / sizeof *marks };

bool manual_write(const char *template, struct text *out, lx_status *st)
{
    size_t length;
    OWNED char *text = file_read(template, &length, st);
    if (!text) return false;
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        size_t k = 0;
        while (k < MARKS && (strlen(marks[k].mark) != n || memcmp(marks[k].mark, at, n) != 0)) k++;
        if (k < MARKS)
            marks[k].add(out);
        else
            text_format(out, "%.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
    return true;
}
