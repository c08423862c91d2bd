/* Graphs and node data for Model Explorer, read back: ids that are there once, edges that lead to nodes and are those of
 * the plan, figures that add up to the plan's. */
#include "support/export_plans.h"

#include <math.h>

/* The ids of the nodes as keys of an object. */
static cJSON *ids_of(const cJSON *nodes)
{
    cJSON *ids = cJSON_CreateObject();
    const cJSON *n;
    cJSON_ArrayForEach(n, nodes)
    {
        const char *id = word_at(n, "id");
        if (cJSON_HasObjectItem(ids, id)) fail_msg("%s stands twice", id);
        cJSON_AddNullToObject(ids, id);
    }
    return ids;
}

static void all_values_are_texts(const cJSON *attributes)
{
    const cJSON *a;
    cJSON_ArrayForEach(a, attributes)
    {
        word_at(a, "key");
        word_at(a, "value");
    }
}

/* Edges by brute force: for each read the last op before it that writes the tensor, or the tensor where it arrives. */
static void edge_source(const struct lx_plan *p, int32_t op, int32_t tensor, char *out, size_t room)
{
    snprintf(out, room, "%s", "");
    if (lx_role_arrives(p->layouts->graph->tensors[tensor].role))
        snprintf(out, room, "tensor %d", (int)tensor);
    for (int32_t o = 0; o < op; o++)
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++)
            if (p->accesses[a].writes && p->accesses[a].tensor == tensor)
                snprintf(out, room, "op %d", (int)o);
}

static void check_op_edges(const struct lx_plan *p, int32_t op, const cJSON *node)
{
    const cJSON *edge = item_at(node, "incomingEdges")->child;
    for (int32_t a = p->access_at[op]; a < p->access_at[op + 1]; a++) {
        char source[40], input[20];
        if (!p->accesses[a].reads) continue;
        edge_source(p, op, p->accesses[a].tensor, source, sizeof source);
        if (!*source) continue;
        snprintf(input, sizeof input, "%d", (int)(a - p->access_at[op]));
        assert_non_null(edge);
        assert_string_equal(word_at(edge, "sourceNodeId"), source);
        assert_string_equal(word_at(edge, "targetNodeInputId"), input);
        edge = edge->next;
    }
    assert_null(edge);
    assert_string_equal(word_at(node, "label"), p->layouts->graph->ops[op].name);
}

static void check_nodes(const struct lx_plan *p, const cJSON *nodes, const cJSON *ids)
{
    int32_t op = 0;
    const cJSON *n, *e;
    cJSON_ArrayForEach(n, nodes)
    {
        word_at(n, "namespace");
        all_values_are_texts(item_at(n, "attrs"));
        cJSON_ArrayForEach(e, item_at(n, "incomingEdges"))
        {
            assert_true(cJSON_HasObjectItem(ids, word_at(e, "sourceNodeId")));
            assert_string_equal(word_at(e, "sourceNodeOutputId"), "0");
        }
        if (p->layouts && strncmp(word_at(n, "id"), "op ", 3) == 0) check_op_edges(p, op++, n);
    }
    assert_int_equal(op, p->layouts ? p->layouts->graph->op_count : 0);
}

/* The sum of the numbers of a file of node data, or how many texts there are. */
static double sum_of(const struct lx_plan *p, const char *format, const cJSON *ids)
{
    struct exported_tree j = exported_json(p, format);
    double sum = 0;
    assert_int_equal(cJSON_GetArraySize(j.root), 1);
    const cJSON *r, *results = item_at(j.root->child, "results");
    cJSON_ArrayForEach(r, results)
    {
        const cJSON *value = item_at(r, "value");
        assert_true(cJSON_HasObjectItem(ids, r->string));
        sum += cJSON_IsNumber(value) ? value->valuedouble : 1;
        if (cJSON_IsString(value)) word_at(r, "bgColor");
    }
    cJSON_Delete(j.root);
    return sum;
}

static void check_figures(const struct lx_plan *p, const cJSON *ids, int nodes)
{
    assert_true(sum_of(p, "model-explorer-residency", ids) == nodes);
    if (!p->layouts) return;
    double cores = 0, us = 0;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        cores += (double)p->traffic[o].cores;
        us += p->traffic[o].device_us;
    }
    assert_true(sum_of(p, "model-explorer-hbm", ids) == (double)p->figures.hbm_bytes);
    assert_true(sum_of(p, "model-explorer-cores", ids) == cores);
    assert_true(fabs(sum_of(p, "model-explorer-time", ids) - us) <= 1e-7 * us);
}

static void check_graph(const struct lx_plan *p)
{
    struct exported_tree j = exported_json(p, "model-explorer");
    const cJSON *graph = item_at(j.root, "graphs")->child, *nodes = item_at(graph, "nodes");
    word_at(j.root, "label");
    word_at(graph, "id");
    cJSON *ids = ids_of(nodes);
    check_nodes(p, nodes, ids);
    check_figures(p, ids, cJSON_GetArraySize(nodes));
    assert_int_equal(cJSON_GetArraySize(item_at(graph, "groupNodeAttributes")), p->nest_count);
    cJSON_Delete(ids);
    cJSON_Delete(j.root);
}

static void graphs_are_the_plan(void **state)
{
    (void)state;
    each_export_plan(check_graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(graphs_are_the_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
