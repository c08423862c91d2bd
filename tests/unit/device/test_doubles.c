/* Functions of fp64 on the device, each as HLO names it, against the C library: half a unit of fp32 would be told. */
#include "support/op_meanings.h"

static const struct function {
    const char *text; /* an instruction of x, or of x and a */
    double (*one)(double x);
    double (*two)(double x, double y);
} functions[] = {
    {"exponential(x)", exp, NULL},
    {"log(x)", log, NULL},
    {"sqrt(x)", sqrt, NULL},
    {"tanh(x)", tanh, NULL},
    {"cosine(x)", cos, NULL},
    {"sine(x)", sin, NULL},
    {"erf(x)", erf, NULL},
    {"exponential-minus-one(x)", expm1, NULL},
    {"log-plus-one(x)", log1p, NULL},
    {"cbrt(x)", cbrt, NULL},
    {"floor(x)", floor, NULL},
    {"ceil(x)", ceil, NULL},
    {"round-nearest-even(x)", rint, NULL},
    {"abs(x)", fabs, NULL},
    {"power(x, a)", NULL, pow},
    {"maximum(x, a)", NULL, fmax},
    {"minimum(x, a)", NULL, fmin},
    {"atan2(x, a)", NULL, atan2},
};

static double negated(double x)
{
    return -x;
}

static double inverse_root(double x)
{
    return 1 / sqrt(x);
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double sign(double x)
{
    return (x > 0) - (x < 0);
}

static double difference(double x, double y)
{
    return x - y;
}

static double quotient(double x, double y)
{
    return y / x;
}

static double rest(double x, double y)
{
    return fmod(y, x);
}

static double product(double x, double y)
{
    return x * y;
}

static const struct function others[] = {
    {"negate(x)", negated, NULL},      {"rsqrt(x)", inverse_root, NULL},     {"logistic(x)", logistic, NULL},
    {"sign(a)", sign, NULL},           {"subtract(x, a)", NULL, difference}, {"divide(a, x)", NULL, quotient},
    {"multiply(x, a)", NULL, product}, {"remainder(a, x)", NULL, rest},
};

static double wanted(const struct function *f, double a)
{
    double x = 2.7 * a + 3.1; /* from 0.4 on, and nothing that fp32 has */
    if (f->one) return f->one(strstr(f->text, "(a)") ? a : x);
    return f->two(x, a);
}

static void try_function(const struct function *f)
{
    static struct tried n;
    char text[600];
    struct meaning m = {f->text, text, NULL};
    snprintf(text, sizeof text,
             "HloModule m\nENTRY e {\n  a = f64[2,32] parameter(0)\n  k = f64[] constant(2.7)\n  c = f64[] "
             "constant(3.1)\n"
             "  s = f64[2,32] broadcast(k), dimensions={}\n  t = f64[2,32] broadcast(c), dimensions={}\n"
             "  p = f64[2,32] multiply(a, s)\n  x = f64[2,32] add(p, t)\n  ROOT y = f64[2,32] %s\n}\n",
             f->text);
    memset(&n, 0, sizeof n);
    meaning_run(&m, false, &n);
    assert_int_equal(n.count, 64);
    for (int i = 0; i < 64; i++) {
        double want = wanted(f, n.in[0][i]);
        if (!(fabs(n.out[i] - want) <= 1e-12 * fmax(1, fabs(want))))
            fail_msg("%s of %g: %.17g, not %.17g", f->text, n.in[0][i], n.out[i], want);
    }
}

static void functions_of_doubles(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) try_function(&functions[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) try_function(&others[i]);
}

static void compared(struct tried *n)
{
    for (int i = 0; i < 64; i++) {
        double a = n->in[0][i], b = n->in[1][i], high = a > 0.1 ? a : b;
        n->want[i] = (a > b && a != b) || a <= b / 3 ? fmin(fmax(high, -0.3), 0.7) : -1;
    }
}

static void choices_of_doubles(void **state)
{
    static const struct meaning meanings[] = {
        {"choices",
         HLO("  a = f64[2,32] parameter(0)\n  b = f64[2,32] parameter(1)\n  k = f64[] constant(0.1)\n"
             "  d = f64[] constant(3)\n  l = f64[] constant(-0.3)\n  h = f64[] constant(0.7)\n  m = f64[] "
             "constant(-1)\n"
             "  kk = f64[2,32] broadcast(k), dimensions={}\n  dd = f64[2,32] broadcast(d), dimensions={}\n"
             "  mm = f64[2,32] broadcast(m), dimensions={}\n  g = pred[2,32] compare(a, b), direction=GT\n"
             "  n = pred[2,32] compare(a, b), direction=NE\n  o = pred[2,32] and(g, n)\n  q = f64[2,32] "
             "divide(b, dd)\n"
             "  r = pred[2,32] compare(a, q), direction=LE\n  s = pred[2,32] or(o, r)\n"
             "  t = pred[2,32] compare(a, kk), direction=GE\n  u = f64[2,32] select(t, a, b)\n"
             "  v = f64[2,32] clamp(l, u, h)\n  ROOT y = f64[2,32] select(s, v, mm)\n"),
         compared}};
    (void)state;
    try_meanings(meanings, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_of_doubles),
                                       cmocka_unit_test(choices_of_doubles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
