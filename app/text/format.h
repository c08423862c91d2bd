/* Numbers and names as people read them (base/human_words.h), and what depends on the terminal. */
#ifndef LX_APP_TEXT_FORMAT_H
#define LX_APP_TEXT_FORMAT_H

#include "base/human_words.h"
#include "base/words.h"

/* The sign of a spread, in letters where the terminal has no other. */
const char *plus_minus(void);

#endif
