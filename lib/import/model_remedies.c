/* What helps against an error of a model file. Messages say where and what is wrong; those that do not say
 * themselves what to do about it (behind "; ", or as what was expected) get what helps in general, by
 * format and kind of error. */
#include "import/model_parts.h"

#include <stdio.h>
#include <string.h>

enum { IN_TEXT, IN_BYTES };

static const struct {
    enum lx_code code;
    const char *remedy[2]; /* of text, of ONNX */
} rows[] = {
    {LX_E_SYNTAX,
     {"the file is cut or was changed: write it again",
      "the file is cut or damaged: fetch or export it again"}},
    {LX_E_SCHEMA,
     {"write the file again with the tool that made it",
      "check the model with onnx.checker and export it again"}},
    {LX_E_SHAPE,
     {"one of both is wrong: write the file again, or correct it",
      "check the model with onnx.checker, and the numbers of --dim and --value"}},
    {LX_E_UNKNOWN_NAME,
     {"define it before it is used, or correct the name", "correct the name, or export the model again"}},
    {LX_E_UNKNOWN_KIND,
     {"only numbers have a size: write the file without it", "export the model without it"}},
    {LX_E_DUPLICATE, {"rename one of them", "rename one of them"}},
    {LX_E_RANGE, {"correct the number", "correct the number"}},
    {LX_E_LIMIT, {"split the model, or simplify it before", "split the model, or simplify it before"}},
    {LX_E_CYCLE,
     {"break the ring: one of them must not need the others", "break the ring: export the model again"}},
    {LX_E_ORDER, {"define it before it is used", "define it before it is used"}},
};

/* It says itself what it should be. */
static bool has_remedy(const char *text)
{
    static const char *const words[] = {"; ", "expected ", " is missing", "should close", "it would be"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i])) return true;
    return false;
}

bool model_add_remedy(enum model_format format, lx_status *st)
{
    size_t n = st ? strlen(st->text) : 0;
    for (size_t i = 0; st && i < sizeof rows / sizeof *rows && !has_remedy(st->text); i++)
        if (rows[i].code == st->code)
            snprintf(st->text + n, sizeof st->text - n, "; %s",
                     rows[i].remedy[format == MODEL_ONNX ? IN_BYTES : IN_TEXT]);
    return false;
}
