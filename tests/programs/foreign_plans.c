/* Plans by another maker: written from what lib/plan-format.md says about plan files and patterns/README.md about patterns,
 * with a JSON library and nothing of lxplan. Choices are its own: orders, places and splits that our planner would
 * not make. `foreign_plans NAME` writes the plan of that name; tests/shell/foreign_plan.sh has it checked and run.
 *
 *   softmax    over the first axis on one core: the input loaded, three results in its place, the last one stored
 *   product    matmul and relu on 2 x 4 cores, what is between them on chip
 *   split_sum  the same, the sum cut over 4 cores and rows over 2; what is between them laid out anew over the ring
 *   chain      three results in HBM on 4 cores, two of them on the same bytes; launches and bundles stated by hand */
#include <cJSON.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STICK = 128, ELEMENT = 2, IN_STICK = STICK / ELEMENT };

static cJSON *plan, *graph, *tensors, *ops, *buffers, *transfers, *ptensors, *pops;

static cJSON *list_of(int count, const int *values)
{
    return cJSON_CreateIntArray(values, count);
}

static void begin(const char *name, int cores)
{
    plan = cJSON_CreateObject();
    cJSON_AddNumberToObject(plan, "lxplan", 2);
    cJSON_AddStringToObject(plan, "kind", "plan");
    graph = cJSON_AddObjectToObject(plan, "graph");
    cJSON_AddNumberToObject(graph, "cores", cores);
    tensors = cJSON_AddArrayToObject(graph, "tensors");
    ops = cJSON_AddArrayToObject(graph, "ops");
    transfers = cJSON_AddArrayToObject(graph, "transfers");
    buffers = cJSON_AddArrayToObject(plan, "buffers");
    cJSON *pattern = cJSON_AddObjectToObject(plan, "pattern");
    cJSON_AddNumberToObject(pattern, "lxplan", 1);
    cJSON_AddStringToObject(pattern, "kind", "pattern");
    cJSON_AddStringToObject(pattern, "name", name);
    ptensors = cJSON_AddArrayToObject(pattern, "tensors");
    pops = cJSON_AddArrayToObject(pattern, "ops");
}

/* Of shape rows x columns (rows 0: a vector), sticks along the columns; `hbm` -1: never there. */
static void tensor(const char *name, const char *role, int rows, int columns, int hbm)
{
    const int shape[2] = {rows, columns}, order[2] = {0, 1};
    int rank = rows ? 2 : 1;
    cJSON *p = cJSON_CreateObject(), *t = cJSON_CreateObject();
    cJSON_AddStringToObject(p, "name", name);
    cJSON_AddItemToObject(p, "shape", list_of(rank, shape + 2 - rank));
    if (role) cJSON_AddStringToObject(p, "role", role);
    cJSON_AddItemToArray(ptensors, p);
    cJSON_AddStringToObject(t, "name", name);
    cJSON_AddItemToObject(t, "order", list_of(rank, order));
    if (hbm >= 0) cJSON_AddNumberToObject(t, "hbm", hbm);
    cJSON_AddItemToArray(tensors, t);
}

/* Bytes: sticks of a row, times rows. */
static int bytes_of(int tensor_number)
{
    const cJSON *shape = cJSON_GetObjectItem(cJSON_GetArrayItem(ptensors, tensor_number), "shape");
    int rank = cJSON_GetArraySize(shape), columns = cJSON_GetArrayItem(shape, rank - 1)->valueint;
    int rows = rank == 2 ? cJSON_GetArrayItem(shape, 0)->valueint : 1;
    return (columns + IN_STICK - 1) / IN_STICK * rows * STICK;
}

struct operand {
    int tensor, buffer; /* buffer -1: in HBM */
};

static cJSON *splits_of(const int (*splits)[2])
{
    cJSON *rows = cJSON_CreateArray();
    for (; (*splits)[1] > 1; splits++) cJSON_AddItemToArray(rows, list_of(2, *splits));
    return rows;
}

/* Operands: the inputs, then the output. Splits end with one into less than two. */
static void op(const char *name, const char *kind, const char *einsum, int stick_var, int inputs,
               const struct operand *operands, const int (*output)[2], const int (*reduction)[2])
{
    cJSON *p = cJSON_CreateObject(), *o = cJSON_CreateObject();
    cJSON_AddStringToObject(p, "name", name);
    cJSON_AddStringToObject(p, "kind", kind);
    if (einsum) cJSON_AddStringToObject(p, "einsum", einsum);
    cJSON *names = cJSON_AddArrayToObject(p, "inputs");
    cJSON_AddStringToObject(o, "name", name);
    cJSON *numbers = cJSON_AddArrayToObject(o, "inputs"), *accesses = cJSON_CreateArray();
    for (int i = 0; i <= inputs; i++) {
        int t = operands[i].tensor;
        const char *text = cJSON_GetObjectItem(cJSON_GetArrayItem(ptensors, t), "name")->valuestring;
        const int access[4] = {operands[i].buffer, i < inputs, i == inputs, bytes_of(t)};
        cJSON_AddItemToArray(accesses, list_of(4, access));
        if (i < inputs) {
            cJSON_AddItemToArray(names, cJSON_CreateString(text));
            cJSON_AddItemToArray(numbers, cJSON_CreateNumber(t));
        } else {
            cJSON_AddStringToObject(p, "output", text);
            cJSON_AddNumberToObject(o, "output", t);
        }
    }
    cJSON_AddNumberToObject(o, "stick_var", stick_var);
    cJSON_AddItemToObject(o, "output_splits", splits_of(output));
    cJSON_AddItemToObject(o, "reduction_splits", splits_of(reduction));
    cJSON_AddItemToObject(o, "accesses", accesses);
    cJSON_AddItemToArray(pops, p);
    cJSON_AddItemToArray(ops, o);
}

static const int none[][2] = {{0, 1}};

static void buffer(int tensor_number, int size, int start, int end, int address, int in_place_of, int view_op,
                   int view_operand)
{
    cJSON *b = cJSON_CreateObject();
    cJSON_AddNumberToObject(b, "size", size);
    cJSON_AddNumberToObject(b, "start", start);
    cJSON_AddNumberToObject(b, "end", end);
    cJSON_AddNumberToObject(b, "address", address);
    if (in_place_of >= 0) cJSON_AddNumberToObject(b, "in_place_of", in_place_of);
    cJSON_AddNumberToObject(b, "tensor", tensor_number);
    cJSON_AddNumberToObject(b, "view_op", view_op);
    cJSON_AddNumberToObject(b, "view_operand", view_operand);
    cJSON_AddItemToArray(buffers, b);
}

static void copy(const char *kind, int tick, int buffer_number, int from)
{
    cJSON *t = cJSON_CreateObject();
    cJSON_AddStringToObject(t, "kind", kind);
    cJSON_AddNumberToObject(t, "tick", tick);
    cJSON_AddNumberToObject(t, "buffer", buffer_number);
    if (from >= 0) cJSON_AddNumberToObject(t, "from", from);
    cJSON_AddItemToArray(transfers, t);
}

/* x, low, powers and y are all at address 0, one after the other; top and sum share the bytes behind. */
static void softmax(void)
{
    enum { ROWS = 128, COLUMNS = 256, MATRIX = ROWS * COLUMNS * ELEMENT, VECTOR = COLUMNS * ELEMENT };
    enum { X, TOP, LOW, POWERS, SUM, Y };
    begin("foreign_softmax", 1);
    tensor("x", "input", ROWS, COLUMNS, 0);
    tensor("top", NULL, 0, COLUMNS, -1);
    tensor("low", NULL, ROWS, COLUMNS, -1);
    tensor("powers", NULL, ROWS, COLUMNS, -1);
    tensor("sum", NULL, 0, COLUMNS, -1);
    tensor("y", "output", ROWS, COLUMNS, MATRIX);
    op("top", "max", "mn->n", 1, 1, (struct operand[]){{X, X}, {TOP, TOP}}, none, none);
    op("low", "sub", "mn,n->mn", 1, 2, (struct operand[]){{X, X}, {TOP, TOP}, {LOW, LOW}}, none, none);
    op("powers", "exp", "mn->mn", 1, 1, (struct operand[]){{LOW, LOW}, {POWERS, POWERS}}, none, none);
    op("sum", "sum", "mn->n", 1, 1, (struct operand[]){{POWERS, POWERS}, {SUM, SUM}}, none, none);
    op("y", "div", "mn,n->mn", 1, 2, (struct operand[]){{POWERS, POWERS}, {SUM, SUM}, {Y, Y}}, none, none);
    buffer(X, MATRIX, 0, 2, 0, -1, 0, 0);
    buffer(TOP, VECTOR, 0, 2, MATRIX, -1, 0, 1);
    buffer(LOW, MATRIX, 1, 3, 0, X, 1, 2);
    buffer(POWERS, MATRIX, 2, 5, 0, LOW, 2, 1);
    buffer(SUM, VECTOR, 3, 5, MATRIX, -1, 3, 1);
    buffer(Y, MATRIX, 4, 5, 0, POWERS, 4, 2);
    copy("load", 0, X, -1);
    copy("store", 4, Y, -1);
}

enum { M = 64, K = 256, N = 512 };

static void product_tensors(void)
{
    tensor("x", "input", M, K, 0);
    tensor("w", "weight", K, N, M * K * ELEMENT);
    tensor("h", NULL, M, N, -1);
    tensor("y", "output", M, N, (M * K + K * N) * ELEMENT);
}

/* Rows in 2, columns in 4: the first variable of the output is the fastest over the cores. */
static void product(void)
{
    static const int splits[][2] = {{N, 2}, {1, 4}, {0, 1}};
    begin("foreign_product", 8);
    product_tensors();
    op("h", "matmul", "mk,kn->mn", 2, 2, (struct operand[]){{0, -1}, {1, -1}, {2, 0}}, splits, none);
    op("y", "relu", "mn->mn", 1, 1, (struct operand[]){{2, 0}, {3, -1}}, splits, none);
    buffer(2, M / 2 * (N / IN_STICK / 4) * STICK, 0, 2, 4096, -1, 0, 2);
}

/* The sum in 4, which are neighbours; the total is on each of them. relu has rows in 8. */
static void split_sum(void)
{
    static const int rows_2[][2] = {{N, 2}, {0, 1}}, rows_8[][2] = {{N, 8}, {0, 1}},
                     sum[][2] = {{1, 4}, {0, 1}};
    begin("foreign_split_sum", 16);
    product_tensors();
    op("h", "matmul", "mk,kn->mn", 2, 2, (struct operand[]){{0, -1}, {1, -1}, {2, 0}}, rows_2, sum);
    op("y", "relu", "mn->mn", 1, 1, (struct operand[]){{2, 1}, {3, -1}}, rows_8, none);
    buffer(2, M / 2 * (N / IN_STICK) * STICK, 0, 2, 0, -1, 0, 2);
    buffer(2, M / 8 * (N / IN_STICK) * STICK, 1, 2, 65536, -1, 1, 0);
    copy("ring", 1, 1, 0);
}

/* Tiles of 16 x 64, numbered by columns, a run of 4 for each core. */
static void launch(cJSON *list, int number, int rows, int columns)
{
    cJSON *l = cJSON_CreateObject(), *dims = cJSON_CreateArray(), *cores = cJSON_CreateArray();
    const int by_rows[4] = {rows, 16, 1, rows}, by_columns[4] = {columns, 64, 1, columns}, grid[2] = {1, 32};
    int tiles = rows / 16 * (columns / 64);
    cJSON_AddNumberToObject(l, "op", number);
    cJSON_AddStringToObject(l, "kind", "tiles");
    cJSON_AddStringToObject(l, "mode", "global");
    cJSON_AddStringToObject(l, "order", "column_major");
    cJSON_AddItemToArray(dims, list_of(4, by_rows));
    cJSON_AddItemToArray(dims, list_of(4, by_columns));
    cJSON_AddItemToObject(l, "dims", dims);
    cJSON_AddNumberToObject(l, "k_tile", 64);
    cJSON_AddItemToObject(l, "core_grid", list_of(2, grid));
    for (int c = 0; c < 4; c++) {
        const int told[8] = {c, 0, c, c * tiles / 4, tiles / 4, 0, 0, 0};
        cJSON_AddItemToArray(cores, list_of(8, told));
    }
    cJSON_AddItemToObject(l, "cores", cores);
    cJSON_AddItemToArray(list, l);
}

/* `third` stands where `first` was: op 2 no longer needs it. */
static void chain(void)
{
    enum { ROWS = 64, COLUMNS = 256, MATRIX = ROWS * COLUMNS * ELEMENT };
    static const int splits[][2] = {{COLUMNS, 4}, {0, 1}};
    static const char *const kinds[] = {"exp", "neg", "tanh", "abs"};
    static const char *const names[] = {"x", "first", "second", "third", "y"};
    static const int at[] = {0, 2 * MATRIX, 3 * MATRIX, 2 * MATRIX, MATRIX};
    begin("foreign_chain", 4);
    for (int t = 0; t < 5; t++)
        tensor(names[t], t == 0 ? "input" : t == 4 ? "output" : NULL, ROWS, COLUMNS, at[t]);
    cJSON *launches = cJSON_AddArrayToObject(graph, "launches"),
          *bundles = cJSON_AddArrayToObject(graph, "bundles");
    for (int o = 0; o < 4; o++) {
        op(names[o + 1], kinds[o], "mn->mn", 1, 1, (struct operand[]){{o, -1}, {o + 1, -1}}, splits, none);
        launch(launches, o, ROWS, COLUMNS);
    }
    for (int o = 0; o < 4; o += 2) { /* nothing is on chip, so that bundles may begin anywhere */
        cJSON *b = cJSON_CreateObject();
        cJSON_AddNumberToObject(b, "first", o);
        cJSON_AddItemToArray(bundles, b);
    }
    cJSON_AddNumberToObject(graph, "pool_at", 2 * MATRIX);
}

static const struct {
    const char *name;
    void (*make)(void);
} makers[] = {{"softmax", softmax}, {"product", product}, {"split_sum", split_sum}, {"chain", chain}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof makers / sizeof *makers; i++) {
        if (strcmp(makers[i].name, argv[1]) != 0) continue;
        makers[i].make();
        char *text = cJSON_Print(plan);
        if (!text) return 2;
        puts(text);
        free(text);
        cJSON_Delete(plan);
        return 0;
    }
    fputs("usage: foreign_plans softmax|product|split_sum|chain\n", stderr);
    return 2;
}
