/* lxplan devices: what a plan can be for, and each as a file. */
#include "planning/planning.h"
#include "text/table.h"

static const struct option_row rows[] = {{"names", 0, NULL, "only the names, one per line"}, {0}};

/* clang-format off */
VALUE_OF(device_lx_value,    struct lx_device, v->number = (double)lx_device_usable(row);)
VALUE_OF(device_hbm_value,   struct lx_device, v->number = row->hbm_gb_per_s; value_format(v, "%.6g", v->number);)
VALUE_OF(device_costs_value, struct lx_device, v->words = lx_device_costs(row)->name;)

static const struct column device_array[] = {
    {.key = "name",         .heading = "name",       .kind = VALUE_NAME,  MEMBER(struct lx_device, preset)},
    {.key = "cores",        .heading = "cores",      .kind = VALUE_COUNT, MEMBER(struct lx_device, cores)},
    {.key = "lx_bytes",     .heading = "LX",         .kind = VALUE_BYTES, .value = device_lx_value},
    {.key = "hbm_gb_per_s", .heading = "HBM GB/s",   .kind = VALUE_RATIO, .value = device_hbm_value},
    {.key = "costs",        .heading = "cost table", .kind = VALUE_NAME,  .value = device_costs_value},
    {.key = "help",         .heading = "",           .kind = VALUE_WORDS, MEMBER(struct lx_device, help)},
};
/* clang-format on */

const struct columns device_columns = COLUMNS("devices", device_array);

static const char *cmd_devices_word(int k)
{
    return lx_device_at(k) ? lx_device_at(k)->preset : NULL;
}

static void cmd_devices_list(struct call *call)
{
    size_t n = 0;
    while (lx_device_at((int)n)) n++;
    const struct table all = TABLE(device_columns, lx_device_at(0), n);
    if (option_given(&call->line, "names"))
        for (int k = 0; cmd_devices_word(k); k++) text_format(&call->out, "%s\n", cmd_devices_word(k));
    else if (wants_json(call)) {
        text_add(&call->out, "{\"lxplan\": 1, \"kind\": \"devices\", \"devices\": [");
        table_add_json_rows(&all, -1, &call->out);
        text_add(&call->out, "]}\n");
    } else
        table_add_text(&all, &call->out);
}

static int cmd_devices_run(struct call *call)
{
    if (call->line.files.count == 0) {
        cmd_devices_list(call);
        return EXIT_YES;
    }
    struct lx_settings o = {.solvers = lx_solvers(), .prefix = "--"};
    struct lx_device device = *lx_device_at(0);
    size_t length;
    for (size_t i = 0; i < call->line.files.count; i++)
        if (!lx_settings_set_row(&o, LX_OPTION_DEVICE, call->line.files.at[i], &call->st)) return FAILED;
    if (!lx_settings_device(&o, &device, &call->st)) return FAILED;
    char *text = lx_device_to_json(&device, &length);
    return deliver(call, text, length) ? EXIT_YES : FAILED;
}

static const struct option_row *const tables[] = {rows, json_rows, output_rows, help_rows, NULL};

const struct command command_devices = {
    .name = "devices",
    .synopsis = "[DEVICE [KEY=VALUE ...]] [--names] [--json] [-o FILE]",
    .summary = "List the devices, or print one as a device file",
    .details =
        "DEVICE is a preset or a device file; KEY=VALUE changes a parameter. What it prints is for -D of\n"
        "the other commands, with changes: patterns/devices.md says what each number is.\n",
    .options = tables,
    .most_files = 64,
    .file_word = "DEVICE",
    .run = cmd_devices_run,
    .more_help = device_help,
    .file = cmd_devices_word,
};
