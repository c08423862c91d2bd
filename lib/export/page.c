/* The frame of a page. */
#include "export/page.h"
#include "base/human_words.h"
#include "base/memory.h"

#include <string.h>

/* JSON inside a script: "</" and "<!" would end it or hide its end; "<" stands only in strings, where its number says the same. */
void html_page(const char *title, const char *script, const struct text *json, const struct text *still,
               struct text *out)
{
    char *clean = printable(title, 0);
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
                  "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" "
                  "href=\"data:,\">\n<title>");
    text_xml(out, clean ? clean : "");
    text_format(out,
                "</title>\n<style>\n%s</style>\n</head>\n<body>\n<div id=\"still\">\n%s</div>\n"
                "<script type=\"application/json\" id=\"data\">",
                html_page_css, still && still->at ? still->at : "<p>This page needs scripts.</p>\n");
    const char *at = json->at ? json->at : "{}", *end = at + strlen(at);
    while (at < end) {
        size_t n = strcspn(at, "<");
        text_add_n(out, at, n);
        at += n;
        if (at < end) text_add(out, "\\u003c"), at++;
    }
    text_format(out, "</script>\n<script>\n%s</script>\n<script>\n%s</script>\n</body>\n</html>\n",
                html_page_js, script);
    mem_free(clean);
}
