/* Predicted beside measured: the five softmax kernels on both clocks. */
#include "support/softmax_rows.h"

#include <stdio.h>

int main(void)
{
    printf("%-9s %5s %8s %11s %10s %11s %6s\n", "kernel", "cores", "operands", "HBM bytes", "device us",
           "end to end", "off");
    for (int i = 0; i < SOFTMAX_ROWS; i++) {
        const struct softmax_row *r = &softmax_rows[i];
        lx_status st = {0};
        struct lx_plan *p = softmax_plan(r, &st);
        if (!p) {
            fprintf(stderr, "%s\n", st.text);
            return 1;
        }
        double us = p->figures.end_to_end_us;
        printf("%-9s %5lld %8lld %11lld %10.2f %6.2f (%.2f measured) %+.1f %%\n", r->name,
               (long long)r->cores, (long long)p->bundles[0].operands, (long long)p->figures.hbm_bytes,
               p->figures.device_us, us, r->measured_us, 100 * (us / r->measured_us - 1));
        lx_plan_free(p);
    }
    return 0;
}
