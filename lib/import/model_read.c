/* Entry for models: detects the format, calls its reader, adds remedies to errors. */
#include "import/read/onnx.h"
#include "import/read/source.h"
#include "import/types/typing.h"

enum { SNIFFED_FIELDS = 4096 };

/* Is it a single message whose fields fit it to the end, or a truncated one, with a graph (field 7)? */
static bool model_is_onnx(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    struct lx_model none = {.file = ""};
    lx_status unused;
    bool failed = false, graph = false, version = false;
    struct wire w = {.at = at, .end = at + length, .base = at, .m = &none, .st = &unused, .failed = &failed};
    struct wire_field f = {0};
    for (int fields = 0; fields < SNIFFED_FIELDS && wire_next(&w, &f); fields++) {
        if (f.kind != WIRE_NUMBER && f.kind != WIRE_BYTES) return false;
        version |= f.number == 1 && f.kind == WIRE_NUMBER;
        graph |= f.number == 7 && f.kind == WIRE_BYTES;
    }
    graph |= f.number == 7 && f.kind == WIRE_BYTES; /* truncated */
    return graph && (version || !failed);
}

/* HLO begins with a word; MLIR contains one, but JSON is not searched. */
enum model_format model_format_of(const char *text, size_t length)
{
    struct source s = {.at = text, .end = text + length, .spans_comments = true};
    source_skip(&s, true);
    size_t left = (size_t)(s.end - s.at);
    bool mlir = left > 0 && *s.at && strchr("#mfbt\"", *s.at);
    if (mlir && memmem(s.at, left, "func.func", 9)) return MODEL_TTIR;
    if (left >= 9 && memcmp(s.at, "HloModule", 9) == 0) return MODEL_HLO;
    return model_is_onnx(text, length) ? MODEL_ONNX : MODEL_FORMAT_COUNT;
}

/* Checks types against their kinds, and that the user's names exist. HLO and ONNX have one entry: a given
 * name must be its own. (A local ONNX function has types only through its calls.) */
static bool model_is_sound(struct lx_model *m, const struct lx_model_options *o, lx_status *st)
{
    const char *entry = m->bodies.at[m->entry].name, *wanted = o->function;
    bool hlo = m->format == MODEL_HLO;
    if (wanted && m->format != MODEL_TTIR && strcmp(wanted + (hlo && *wanted == '%'), entry) != 0)
        return status_set_at(
            st, LX_E_UNKNOWN_NAME, m->file, 0, 0,
            "--func %.100s: what can be imported is the %s, \"%.100s\"; say that or leave it out", wanted,
            hlo ? "entry computation" : "graph", entry);
    if (m->format != MODEL_ONNX && !(model_extents_bind(m, o, st) && model_check_types(m, st))) return false;
    for (int i = 0; i < o->dim_count + o->fixed_count; i++) {
        int k = i - o->dim_count;
        if (k < 0 ? m->dim_used[i] : m->fixed_used[k]) continue;
        return status_set_at(st, LX_E_UNKNOWN_NAME, m->file, 0, 0,
                             "--%s %.100s: the file has no such name; leave it out, or correct it",
                             k < 0 ? "dim" : "value", k < 0 ? o->dims[i].name : o->fixed[k].name);
    }
    return true;
}

struct lx_model *lx_model_read(const char *file, const char *text, size_t length,
                               const struct lx_model_options *options, lx_status *st)
{
    static model_reader *const read[] = {
        [MODEL_TTIR] = ttir_read, [MODEL_HLO] = hlo_read, [MODEL_ONNX] = onnx_read};
    static const struct lx_model_options none = {0};
    const struct lx_model_options *o = options ? options : &none;
    enum model_format format = model_format_of(text, length);
    if (format == MODEL_FORMAT_COUNT)
        return status_set_at(st, LX_E_SYNTAX, file, 1, 1,
                             "no model: TTIR has func.func, HLO begins with HloModule, ONNX is protobuf with "
                             "a graph in field 7"),
               NULL;
    struct lx_model *m = mem_zeroed(1, sizeof *m);
    m->format = format;
    m->file = arena_string(&m->memory, file);
    m->dim_used = arena_array(&m->memory, (size_t)o->dim_count, sizeof *m->dim_used);
    m->fixed_used = arena_array(&m->memory, (size_t)o->fixed_count, sizeof *m->fixed_used);
    if (read[format](m, text, length, o, st) && model_is_sound(m, o, st)) return m;
    model_add_remedy(format, st);
    lx_model_free(m);
    return NULL;
}

/* ---- remedies ---- */

/* A message without its own remedy (after "; ", or the expected text) gets one by format and code. */
bool model_add_remedy(enum model_format format, lx_status *st)
{
    static const struct {
        enum lx_code code;
        const char *of_text, *of_onnx;
    } rows[] = {
        {LX_E_SYNTAX, "the file is cut or was changed: write it again",
         "the file is cut or damaged: fetch or export it again"},
        {LX_E_SCHEMA, "write the file again with the tool that made it",
         "check the model with onnx.checker and export it again"},
        {LX_E_SHAPE, "one of both is wrong: write the file again, or correct it",
         "check the model with onnx.checker, and the numbers of --dim and --value"},
        {LX_E_UNKNOWN_NAME, "define it before it is used, or correct the name",
         "correct the name, or export the model again"},
        {LX_E_UNKNOWN_KIND, "only numbers have a size: write the file without it",
         "export the model without it"},
        {LX_E_DUPLICATE, "rename one of them", "rename one of them"},
        {LX_E_RANGE, "correct the number", "correct the number"},
        {LX_E_LIMIT, "split the model, or simplify it before", "split the model, or simplify it before"},
        {LX_E_CYCLE, "break the ring: one of them must not need the others",
         "break the ring: export the model again"},
        {LX_E_ORDER, "define it before it is used", "define it before it is used"},
    };
    static const char *const words[] = {"; ", "expected ", " is missing", "should close", "it would be"};
    size_t n = st ? strlen(st->text) : 0;
    bool has = !st;
    for (size_t i = 0; !has && i < sizeof words / sizeof *words; i++)
        has = strstr(st->text, words[i]) != NULL;
    for (size_t i = 0; !has && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == st->code)
            snprintf(st->text + n, sizeof st->text - n, "; %s",
                     format == MODEL_ONNX ? rows[i].of_onnx : rows[i].of_text);
    return false;
}
