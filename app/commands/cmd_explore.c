/* lxplan explore: plans on a screen. */
#include "base/file.h"
#include "planning/planning.h"
#include "tui/core/main_loop.h"

static const struct option_row rows[] = {
    {"theme", 0, "NAME", "{} (default: by the terminal; NO_COLOR: mono)"},
    {"team", 0, "N|AxB", "open the Team view, with the graph sharded over N devices, or over a grid"},
    {"ascii", 0, NULL, "no characters beyond ASCII"},
    {"no-config", MORE, NULL, "do not read ~/.config/lxplan/config (theme, keys, settings)"},
    {"script", MORE, "KEYS",
     "these keys instead of a terminal: jj<Enter><wait>:solver exact<Enter>; @FILE reads them"},
    {"dump-screen", MORE, "FILE",
     "write the last screen of the script: text, or a drawing if FILE ends with .svg"},
    {"size", MORE, "COLSxROWS", "screen of the script (default 80x24)"},
    {0},
};

static const struct option_words words[] = {{"theme", theme_word}, {0}};

/* The user's config file; the command line overrides it. */
static bool read_config(struct call *call, struct explore_options *o)
{
    struct config c;
    if (option_given(&call->line, "no-config")) return true;
    OWNED char *path = config_path();
    bool ok = config_read(path, &c, &call->st);
    if (!ok) return false;
    config_apply(&c, &o->how);
    o->ascii |= c.ascii;
    if (!o->theme && c.theme && !o->no_colour) o->theme = c.theme->name;
    return true;
}

static int cmd_explore_run(struct call *call)
{
    const char *no_colour = getenv("NO_COLOR"), *script = option_value(&call->line, "script");
    OWNED char *bundled = NULL, *text = NULL;
    struct model_options models = {0};
    struct lx_team_grid grid = {0};
    struct explore_options o = {.paths = call->line.files.at,
                                .path_count = (int)call->line.files.count,
                                .no_colour = no_colour && *no_colour,
                                .ascii = option_given(&call->line, "ascii"),
                                .theme = option_value(&call->line, "theme"),
                                .dump = option_value(&call->line, "dump-screen"),
                                .models = &models};
    const char *size = option_value(&call->line, "size"), *team = option_value(&call->line, "team");
    char end;
    if (size && (sscanf(size, "%dx%d%c", &o.columns, &o.rows, &end) != 2 || o.columns < 1 || o.rows < 1 ||
                 o.columns > 1000 || o.rows > 1000))
        return status_set(&call->st, LX_E_USAGE, "--size %s: it must be like 80x24", size), FAILED;
    if (team) o.team = &grid;
    bool interrupted = false, ok = (!team || lx_team_grid_of_text(team, &grid, &call->st)) &&
                                   read_options(call, &o.how.options) && read_config(call, &o) &&
                                   read_model_options(call, &models);
    o.how.options.prefix = NULL; /* in the explorer one types "cores 8", not "--cores 8" */
    if (ok && o.path_count == 0) {
        bundled = bundled_patterns();
        o.paths = (const char *const *)&bundled;
        o.path_count = bundled != NULL;
        o.welcome = !script;
    }
    if (ok && script && script[0] == '@') {
        size_t length;
        text = file_read(script + 1, &length, &call->st);
        ok = text != NULL;
        script = text;
    }
    o.script = script;
    if (ok && o.dump && !script) ok = status_set(&call->st, LX_E_USAGE, "--dump-screen goes with --script");
    ok = ok && explore(&o, &interrupted, &call->st);
    return !ok ? FAILED : interrupted ? EXIT_INTERRUPTED : EXIT_YES;
}

static const struct option_row *const tables[] = {planning_rows, rows, help_rows, model_rows, NULL};

const struct command command_explore = {
    .balances = true,
    .name = "explore",
    .synopsis = "[FILE|DIR ...] [-s SOLVER] [options]",
    .summary = "Browse patterns and plans on a screen, and change their options",
    .details =
        "Files are patterns or plans, also of teams; a folder stands for all patterns in it. Without files: "
        "the\n"
        "bundled patterns. `lxplan FILE` is the same as `lxplan explore FILE`. ? lists the keys.\n"
        "~/.config/lxplan/config has lines like: theme light, bind $ graph, set solver exact; the command\n"
        "line overrides it.\n",
    .options = tables,
    .words = words,
    .least_files = 0,
    .most_files = 10000,
    .file_word = "FILE or DIR",
    .run = cmd_explore_run,
};
