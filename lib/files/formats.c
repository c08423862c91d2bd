/* The table of formats, in the order of help texts; reads a file in any of them. */
#include "files/formats.h"
#include "base/file.h"
#include "files/pattern.h"

FORMAT_READS(pattern);
FORMAT_READS(minimalloc);
FORMAT_WRITES_BUFFERS(minimalloc);
FORMAT_READS(xla);
FORMAT_WRITES_BUFFERS(xla);
FORMAT_READS(dsa_problem);
FORMAT_WRITES_ANSWERS(dsa_solution);
FORMAT_READS(d2m);
FORMAT_WRITES_ANSWERS(d2m_solution);
FORMAT_READS(lifetimes);
FORMAT_READS(ttir_model);
FORMAT_READS(hlo_model);
FORMAT_READS(onnx_model);

/* clang-format off */
static const struct lx_format formats[] = {
    {.name = "pattern", .summary = "a pattern as JSON", .endings = {".json"},
     .help = "tensors and ops, or a bare list of buffers",
     .begins = "{\"lxplan\": 1, \"kind\": \"pattern\"",
     .sniff = pattern_sniff, .read = pattern_read, .write_graph = lx_graph_to_json},
    {.name = "minimalloc", .summary = "MiniMalloc CSV", .endings = {".csv"},
     .help = "id,lower,upper,size with upper exclusive, and optional columns offset (a fixed address), "
             "alignment and weight (the cost of being off chip; without it the size)",
     .begins = "id,lower,upper,size", .has_addresses = true,
     .sniff = minimalloc_sniff, .read = minimalloc_read, .write_buffers = minimalloc_write},
    {.name = "xla", .summary = "XLA CSV", .endings = {".csv"},
     .help = "the memory-space dump with buffer_id, buffer_name, alt_mem_benefit, size, definition_time, "
             "use_times, use_names and is_scoped; or the buffer assignment with end_time, whose offsets bind "
             "nobody",
     .begins = "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times",
     .sniff = xla_sniff, .read = xla_read, .write_buffers = xla_write},
    {.name = "dsa", .summary = "dsa-problem-v1 JSON", .endings = {".json"},
     .help = "pools, buffers with several lives, colocations, separations, exclusions, pins and reuse "
             "penalties, as dsa-solver writes them; of a plan, its dsa-solution-v1",
     .begins = "{\"schema_version\": 1, \"profile\": ...",
     .sniff = dsa_problem_sniff, .read = dsa_problem_read, .write_answer = dsa_solution_write},
    {.name = "d2m", .summary = "D2M JSON", .endings = {".json"},
     .help = "variables that are in scratch memory or spilled, with the requests of each, as tt-mlir's D2M "
             "allocator writes them; the limit is --lx; of a plan, the same with placements and offsets",
     .begins = "{\"variables\": [...], \"requests\": [...]}",
     .sniff = d2m_sniff, .read = d2m_read, .write_answer = d2m_solution_write},
    {.name = "lifetimes", .summary = "lxplan-lifetimes JSON", .endings = {".json"},
     .help = "buffers of a compiler with addresses, and first and last use in a program with loops",
     .begins = "{\"lxplan\": 1, \"kind\": \"lifetimes\"",
     .sniff = lifetimes_sniff, .read = lifetimes_read},
    {.name = "ttir", .summary = "TTIR text", .endings = {".mlir"},
     .help = "a function of tt-mlir's TTIR in MLIR's generic form",
     .begins = "module {...} or func.func @name(...)",
     .sniff = ttir_model_sniff, .read = ttir_model_read},
    {.name = "hlo", .summary = "HLO text", .endings = {".hlo"},
     .help = "an HLO module of XLA, before fusion or after",
     .begins = "HloModule",
     .sniff = hlo_model_sniff, .read = hlo_model_read},
    {.name = "onnx", .summary = "ONNX", .endings = {".onnx"},
     .help = "an ONNX model; extents without a number are given with --dim",
     .begins = "protobuf with a graph in field 7",
     .sniff = onnx_model_sniff, .read = onnx_model_read},
    {0},
};
/* clang-format on */

const struct lx_format *lx_formats(void)
{
    return formats;
}

const struct lx_format *lx_format_find(const char *name)
{
    for (const struct lx_format *f = formats; f->name; f++)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

const struct lx_format *lx_format_of(const char *text, size_t length)
{
    skip_byte_order_mark(&text, &length);
    for (const struct lx_format *f = formats; f->name; f++)
        if (f->sniff(text, length)) return f;
    return NULL;
}

bool lx_format_ending(const char *path)
{
    for (const struct lx_format *f = formats; f->name; f++)
        for (int i = 0; i < LX_MAX_ENDINGS && f->endings[i]; i++) {
            size_t n = strlen(path), m = strlen(f->endings[i]);
            if (n >= m && strcmp(path + n - m, f->endings[i]) == 0) return true;
        }
    return false;
}

void skip_byte_order_mark(const char **text, size_t *length)
{
    if (*length < 3 || memcmp(*text, "\xef\xbb\xbf", 3) != 0) return;
    *text += 3;
    *length -= 3;
}

/* A first line of words and commas is a table, perhaps of an unknown form. */
static bool looks_like_csv(const char *text, size_t length)
{
    size_t i = 0, commas = 0;
    for (; i < length && text[i] != '\n'; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr("_, ;\t\r", text[i])) return false;
        commas += text[i] == ',' || text[i] == ';' || text[i] == '\t';
    }
    return commas > 0 && isalpha((unsigned char)text[0]);
}

const struct lx_graph *lx_graph_of_text(const char *file, const char *text, size_t length, lx_status *st)
{
    const struct lx_format *format = lx_format_of(text, length);
    skip_byte_order_mark(&text, &length);
    if (!format && looks_like_csv(text, length)) {
        SCOPED(text_free) struct text t = {0};
        for (const struct lx_format *f = lx_formats(); f->name; f++)
            if (looks_like_csv(f->begins, strlen(f->begins)))
                text_format(&t, t.length ? " and %s with %s" : "; %s begins with %s", f->summary, f->begins);
        status_set_at(st, LX_E_SCHEMA, file, 1, 1, "a table with an unknown header%s", t.at ? t.at : "");
        return NULL;
    }
    /* Otherwise the pattern reader gives the best error. */
    return (format ? format : lx_formats())->read(file, text, length, st);
}

const struct lx_graph *lx_graph_read(const char *path, lx_status *st)
{
    size_t length;
    OWNED char *text = file_read(path, &length, st);
    if (!text) return NULL;
    const struct lx_graph *g =
        lx_graph_of_text(strcmp(path, "-") == 0 ? "standard input" : path, text, length, st);
    return g;
}
