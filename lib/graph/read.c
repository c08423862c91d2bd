/* The way in: whatever the file is, find out and read it. */
#include "graph/pattern.h"
#include "base/fail.h"
#include "base/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A first line of words with commas between them is a table, if not one that we know. */
static bool looks_like_csv(const char *text, size_t length)
{
    size_t i = 0, commas = 0;
    for (; i < length && text[i] != '\n'; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr("_, ;\t\r", text[i])) return false;
        commas += text[i] == ',' || text[i] == ';' || text[i] == '\t';
    }
    return commas > 0 && isalpha((unsigned char)text[0]);
}

const struct lx_graph *lx_graph_parse(const char *file, const char *text, size_t length, lx_status *st)
{
    if (length >= 3 &&
        memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* the byte order mark that some editors write */
        text += 3;
        length -= 3;
    }
    if (csv_is_known(text, length)) return csv_read(file, text, length, st);
    if (looks_like_csv(text, length)) {
        status_set_at(
            st, LX_E_SCHEMA, file, 1, 1,
            "a table with an unknown header; MiniMalloc CSV begins with id,lower,upper,size and XLA CSV with "
            "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times");
        return NULL;
    }
    struct json j;
    if (!json_parse(&j, file, text, length, st)) return NULL;
    const struct lx_graph *g = pattern_read_json(&j, j.root, st);
    json_free(&j);
    return g;
}

const struct lx_graph *lx_graph_read(const char *path, lx_status *st)
{
    size_t length;
    char *text = file_read(path, &length, st);
    if (!text) return NULL;
    const struct lx_graph *g =
        lx_graph_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, length, st);
    free(text);
    return g;
}
