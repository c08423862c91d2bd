/* The device, in words: its parameters in a help, and the one of a plan. */
#include "planning/planning.h"
#include "text/colour.h"
#include "text/format.h"

#include <stdio.h>

void device_help(const struct call *call, struct text *out)
{
    (void)call;
    text_add(out, "\n");
    paint_add(out, PAINT_HEADING, "parameters of a device (-D KEY=VALUE):\n");
    char known[300], words[340];
    snprintf(words, sizeof words, "a whole device: %s", lx_device_names(" or ", known, sizeof known));
    help_entry(out, "preset", words);
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++)
        help_entry(out, p->key, p->help);
}

void device_line(const struct lx_plan *plan, struct text *out)
{
    const struct lx_device *d = &plan->graph->device;
    if (plan->graph->is_list)
        text_format(out, "%s of scratchpad, alignment %s B", in_bytes(plan->problem.capacity).at,
                    grouped(plan->problem.alignment).at);
    else
        text_format(out, "%s, %s, %s of scratchpad each, in sticks of %s B", d->preset,
                    counted(d->cores, "core").at, in_bytes(plan->problem.capacity).at,
                    grouped(plan->problem.alignment).at);
}
