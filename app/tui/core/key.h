/* Keys, as they come from a terminal or from a script: a character, a control character or one of the named
 * ones below. Written like in vim: j  <Down>  <C-r>  <S-Tab>  <lt>. */
#pragma once

#include "base/base.h"

#define NAMED_KEYS(X)                                                                                        \
    X(UP, "Up")                                                                                              \
    X(DOWN, "Down")                                                                                          \
    X(LEFT, "Left")                                                                                          \
    X(RIGHT, "Right")                                                                                        \
    X(HOME, "Home")                                                                                          \
    X(END, "End")                                                                                            \
    X(PAGE_UP, "PageUp")                                                                                     \
    X(PAGE_DOWN, "PageDown")                                                                                 \
    X(BACKTAB, "S-Tab")                                                                                      \
    X(DELETE, "Del")                                                                                         \
    X(F1, "F1")                                                                                              \
    X(RESIZE, "Resize")                                                                                      \
    X(CLICK, "Click")                                                                                        \
    X(WHEEL_UP, "WheelUp") X(WHEEL_DOWN, "WheelDown") X(WAIT, "wait") X(TICK, "Tick") X(NOTHING, "Nothing")

#define KEY_ENUM(id, name) AT_##id,
enum key_code {
    AT_TAB = 9,
    AT_ENTER = 13,
    AT_ESCAPE = 27,
    AT_BACKSPACE = 127,
    AT_FIRST = 0x110000, /* behind the last character */
    NAMED_KEYS(KEY_ENUM) AT_LAST
};
#undef KEY_ENUM

struct key {
    uint32_t code;
    int row, column; /* of a click, a wheel, a new size */
};

/* The next key of a text like "jj<Down>:solver exact<Enter>"; false at its end or, with `st`, where it is not
 * a key. Blanks count: write <Space> only where it helps. */
bool key_parse(const char **text, struct key *out, lx_status *st);
/* "<C-r>", "j": at least 16 bytes of room. */
const char *name_of_key(uint32_t code, char *out);
