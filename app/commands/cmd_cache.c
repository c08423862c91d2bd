/* lxplan cache: what the folder of --cache holds, and how much it may. */
#include "command.h"
#include "base/option.h"
#include "text/format.h"
#include "text/table.h"

#include <math.h>
#include <time.h>

static const struct option_row rows[] = {
    {"clear", 0, NULL, "take all entries out"},
    {"limit", 0, "BYTES",
     "the bytes that the folder may hold from now on (k, m, g may follow; default 1g); what was not used for "
     "longest goes"},
    {0},
};

/* Of an entry's last use, in universal time. */
static void cmd_cache_add_time(int64_t micros, struct text *out)
{
    time_t seconds = (time_t)(micros / 1000000);
    struct tm t;
    char words[40];
    if (gmtime_r(&seconds, &t) && strftime(words, sizeof words, "%Y-%m-%d %H:%M:%S", &t))
        text_add(out, words);
}

/* clang-format off */
VALUE_OF(graph_value,  struct lx_cache_entry, v->words = row->graph;)
VALUE_OF(solver_value, struct lx_cache_entry, v->words = row->solver;)
VALUE_OF(bytes_value,  struct lx_cache_entry, value_whole(v, row->bytes);)
VALUE_OF(used_value,   struct lx_cache_entry, cmd_cache_add_time(row->used, &v->made); v->words = v->made.at;)
VALUE_OF(file_value,   struct lx_cache_entry, v->words = row->file;)

static const struct column entry_array[] = {
    {.key = "graph",  .heading = "pattern",    .kind = VALUE_NAME,  .value = graph_value},
    {.key = "solver", .heading = "solver",     .kind = VALUE_WORDS, .value = solver_value},
    {.key = "bytes",  .heading = "bytes",      .kind = VALUE_BYTES, .value = bytes_value},
    {.key = "used",   .heading = "used (UTC)", .kind = VALUE_WORDS, .value = used_value},
    {.key = "file",   .heading = NULL,         .kind = VALUE_WORDS, .value = file_value},
};
/* clang-format on */

const struct columns cache_columns = COLUMNS("entries of a cache", entry_array);

static void cmd_cache_write_json(const struct lx_cache_list *list, struct text *out)
{
    text_format(out, "{\"lxplan\": 1, \"kind\": \"cache\", \"bytes\": %lld, \"limit\": %lld, \"entries\": [",
                (long long)list->bytes, (long long)list->limit);
    table_add_json_list(&TABLE(cache_columns, list->at, list->count), out);
    text_add(out, "]}\n");
}

static void cmd_cache_write_words(const char *folder, const struct lx_cache_list *list, struct text *out)
{
    text_format(out, "%s: %s of %s", folder, counted(list->count, "plan").at, in_bytes(list->bytes).at);
    text_format(out, ", at most %s\n", in_bytes(list->limit).at);
    if (list->count) text_add(out, "\n");
    if (list->count) table_add_text(&TABLE(cache_columns, list->at, list->count), out);
}

static bool cmd_cache_list_entries(struct call *call, const char *folder)
{
    struct lx_cache_list list;
    if (!lx_cache_list(folder, &list, &call->st)) return false;
    if (wants_json(call))
        cmd_cache_write_json(&list, &call->out);
    else if (!is_quiet(call))
        cmd_cache_write_words(folder, &list, &call->out);
    lx_cache_list_free(&list);
    return true;
}

static int cmd_cache_run(struct call *call)
{
    const char *folder = call->line.files.at[0];
    int64_t limit = -1;
    int32_t removed = 0;
    if (!option_int(call, "limit", 0, INT64_C(1) << 50, &limit)) return FAILED;
    bool clear = option_given(&call->line, "clear");
    if (limit >= 0 && !lx_cache_set_limit(folder, limit, &removed, &call->st)) return FAILED;
    if (clear && !lx_cache_clear(folder, &removed, &call->st)) return FAILED;
    if (removed) note(call, "%s: %s taken out", folder, counted(removed, "plan").at);
    return cmd_cache_list_entries(call, folder) ? EXIT_YES : FAILED;
}

static const struct option_row *const tables[] = {rows, json_rows, quiet_rows, help_rows, NULL};

const struct command command_cache = {
    .name = "cache",
    .synopsis = "DIR [--limit BYTES] [--clear] [--json]",
    .summary = "List or clear the plans that --cache DIR keeps",
    .details =
        "A folder holds one file per plan, what was used last first. --limit stays with the folder: every\n"
        "program that keeps plans there takes out what was not used for longest. Files of others stay.\n",
    .options = tables,
    .least_files = 1,
    .most_files = 1,
    .file_word = "DIR",
    .run = cmd_cache_run,
};
