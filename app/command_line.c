/* Arguments against tables of rows. Nothing is copied but names that are cut out of `--name=value`: values
 * point into argv, which lives as long as the program. */
#include "command_line.h"
#include "text/format.h"

enum { MAX_ROWS = 128, HELP_COLUMN = 28, HELP_WIDTH = 96 };

const struct option_row *find_row(const struct option_row *rows, const char *name)
{
    for (; rows->name; rows++)
        if (strcmp(rows->name, name) == 0) return rows;
    return NULL;
}

const struct option_row *find_letter(const struct option_row *const *tables, char letter)
{
    for (; *tables; tables++)
        for (const struct option_row *row = *tables; row->name; row++)
            if ((row->letter & ~MORE) == letter ||
                ((row->letter & ~MORE) == ANY_DIGIT && isdigit((unsigned char)letter)))
                return row;
    return NULL;
}

/* `--name`, `--name=value` or `--name value`; `*used` counts the arguments that were taken. */
static bool take_long(struct command_line *line, const char *argument, const char *next,
                      const struct option_row *const *tables, bool open, int *used, lx_status *st)
{
    const char *equals = strchr(argument, '=');
    char *name = arena_copy(line->memory, argument + 2,
                            equals ? (size_t)(equals - argument - 2) : strlen(argument + 2));
    const struct option_row *row = NULL;
    for (const struct option_row *const *table = tables; *table && !row; table++)
        row = find_row(*table, name);
    if (!row && !open) {
        const char *names[MAX_ROWS + 1] = {0};
        int n = 0;
        for (const struct option_row *const *table = tables; *table; table++)
            for (row = *table; row->name && n < MAX_ROWS; row++) names[n++] = row->name;
        const char *near = nearest(name, names);
        return near ? status_set(st, LX_E_USAGE, "there is no option --%s; did you mean --%s?", name, near)
                    : status_set(st, LX_E_USAGE, "there is no option --%s; --help lists those there are",
                                 name);
    }
    if (row && !row->argument) {
        if (equals) return status_set(st, LX_E_USAGE, "--%s takes no value", name);
        VEC_PUSH(&line->options, (struct given_option){row->name, NULL});
        return true;
    }
    const char *value = equals ? equals + 1 : next;
    if (!value) return status_set(st, LX_E_USAGE, "--%s needs a value (%s)", name, row ? row->argument : "N");
    *used += !equals;
    VEC_PUSH(&line->options, (struct given_option){row ? row->name : name, value});
    return true;
}

/* One or more switches behind one dash; the first option with a value takes the rest or the next argument. */
static bool take_short(struct command_line *line, const char *argument, const char *next,
                       const struct option_row *const *tables, int *used, lx_status *st)
{
    for (const char *s = argument + 1; *s; s++) {
        const struct option_row *row = find_letter(tables, *s);
        if (!row)
            return status_set(st, LX_E_USAGE, "there is no option -%c; --help lists those there are", *s);
        if (!row->argument) {
            VEC_PUSH(&line->options, (struct given_option){row->name, NULL});
            continue;
        }
        if ((row->letter & ~MORE) == ANY_DIGIT) { /* the letter is the value */
            VEC_PUSH(&line->options, (struct given_option){row->name, arena_copy(line->memory, s, 1)});
            continue;
        }
        const char *value = s[1] ? s + 1 : next;
        if (!value) return status_set(st, LX_E_USAGE, "-%c needs a value (%s)", *s, row->argument);
        *used += !s[1];
        VEC_PUSH(&line->options, (struct given_option){row->name, value});
        return true;
    }
    return true;
}

bool options_parse(struct command_line *line, int count, char *const *arguments,
                   const struct option_row *const *tables, bool open, lx_status *st)
{
    *line = (struct command_line){.memory = mem_zeroed(1, sizeof *line->memory)};
    bool only_files = false;
    for (int i = 0; i < count; i++) {
        const char *a = arguments[i], *next = i + 1 < count ? arguments[i + 1] : NULL;
        int used = 0;
        bool ok = true;
        if (only_files || a[0] != '-' || !a[1]) /* "-" is a file: standard input */
            VEC_PUSH(&line->files, a);
        else if (strcmp(a, "--") == 0)
            only_files = true;
        else if (a[1] == '-')
            ok = take_long(line, a, next, tables, open, &used, st);
        else
            ok = take_short(line, a, next, tables, &used, st);
        if (!ok) return false;
        i += used;
    }
    return true;
}

void options_free(struct command_line *line)
{
    VEC_FREE(&line->options);
    VEC_FREE(&line->files);
    if (line->memory) arena_free(line->memory);
    mem_free(line->memory);
    *line = (struct command_line){0};
}

static const struct given_option *last_given(const struct command_line *line, const char *name)
{
    for (size_t i = line->options.count; i-- > 0;)
        if (strcmp(line->options.at[i].name, name) == 0) return &line->options.at[i];
    return NULL;
}

bool option_given(const struct command_line *line, const char *name)
{
    return last_given(line, name) != NULL;
}

const char *option_value(const struct command_line *line, const char *name)
{
    const struct given_option *g = last_given(line, name);
    return g ? g->value : NULL;
}

void help_entry(struct text *out, const char *left, const char *right)
{
    int column = columns_of(left) + 2;
    text_format(out, "  %s", left);
    if (column + 1 >= HELP_COLUMN) {
        text_add(out, "\n");
        column = 0;
    }
    while (*right) {
        text_pad(out, ' ', (size_t)(HELP_COLUMN - column));
        size_t n = strlen(right), room = HELP_WIDTH - HELP_COLUMN;
        if (n > room)
            for (n = room; n > 0 && right[n] != ' ';) n--;
        if (n == 0) n = strcspn(right, " ");
        text_add_n(out, right, n);
        text_add(out, "\n");
        right += n + (right[n] == ' ');
        column = 0;
    }
    if (column) text_add(out, "\n");
}

static void command_line_add_list(const char *(*word)(int k), const char *first, const char *last,
                                  struct text *out)
{
    for (int k = 0; word(k); k++)
        text_format(out, "%s%s%s", k == 0 ? "" : word(k + 1) ? ", " : last, word(k), k == 0 ? first : "");
}

void add_words(const char *(*word)(int k), const char *before_last, struct text *out)
{
    command_line_add_list(word, "", before_last, out);
}

const char *(*option_words_of(const struct option_words *words, const char *option))(int k)
{
    for (; words && words->option; words++)
        if (strcmp(words->option, option) == 0) return words->word;
    return NULL;
}

void add_help(const struct option_row *row, const struct option_words *words, struct text *out)
{
    static const char plain[] = "{}", first_is_default[] = "{default}";
    const char *(*word)(int) = option_words_of(words, row->name);
    const char *gap = strchr(row->help, '{'), *mark = gap && gap[1] == '}' ? plain : first_is_default;
    if (!word || !gap) {
        text_add(out, row->help);
        return;
    }
    text_add_n(out, row->help, (size_t)(gap - row->help));
    command_line_add_list(word, mark == plain ? "" : " (default)", " or ", out);
    text_add(out, gap + strlen(mark));
}

void options_help(const struct option_row *rows, const struct option_words *words, bool all, struct text *out)
{
    for (; rows->name; rows++) {
        if (rows->letter & MORE && !all) continue;
        int own = rows->letter & ~MORE;
        char left[100], letter[8] = "    ";
        SCOPED(text_free) struct text help = {0};
        if (own == ANY_DIGIT)
            snprintf(letter, sizeof letter, "-0..9, ");
        else if (own)
            snprintf(letter, sizeof letter, "-%c, ", own);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, rows->name, rows->argument ? " " : "",
                 rows->argument ? rows->argument : "");
        add_help(rows, words, &help);
        help_entry(out, left, help.at ? help.at : "");
    }
}
