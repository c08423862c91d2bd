/* What depends on the terminal; the rest is in base/human_words.c. */
#include "text/format.h"

#include <langinfo.h>
#include <string.h>

const char *plus_minus(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? "±" : "+-";
}
