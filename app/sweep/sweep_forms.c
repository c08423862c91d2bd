/* The forms of a sweep's answer. */
#include "sweep/sweep_out.h"

const struct sweep_form sweep_forms[] = {
    {"text", sweep_text}, {"csv", sweep_csv},   {"json", sweep_json},
    {"svg", sweep_svg},   {"html", sweep_html}, {0},
};
