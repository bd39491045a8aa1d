/* What operators make of constants is known where another operator needs it: the borders of a Pad here. */
#include "onnx_run.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdlib.h>

/* ---- the constants of the cases ---- */

typedef struct table_entry {
    const char *name;
    int type;
    int64_t extents[2];
    int rank;
    int values[12];
} table_entry;

static const table_entry table[] = {
    {"m1", 7, {1}, 1, {-1}},
    {"zero", 7, {1}, 1, {0}},
    {"one", 7, {1}, 1, {1}},
    {"two", 7, {1}, 1, {2}},
    {"three", 7, {1}, 1, {3}},
    {"four", 7, {1}, 1, {4}},
    {"before", 7, {1}, 1, {-9}},
    {"pads", 7, {4}, 1, {0, 1, 0, 2}},
    {"zeros", 7, {4}, 1, {0, 0, 0, 0}},
    {"order", 7, {4}, 1, {0, 1, 2, 3}},
    {"column", 7, {4, 1}, 2, {0, 1, 2, 3}},
    {"upside", 7, {2, 2}, 2, {0, 2, 0, 1}},
    {"turned", 7, {2, 2}, 2, {0, 0, 1, 2}},
    {"triangle", 7, {2, 2}, 2, {0, 1, 9, 2}},
    {"pairs", 7, {4, 2}, 2, {0, 0, 1, 0, 0, 0, 0, 2}},
    {"factors", 7, {4, 2}, 2, {0, 5, 1, 1, 7, 0, 2, 1}},
    {"rows", 7, {4, 2}, 2, {7, 7, 0, 1, 8, 8, 0, 2}},
    {"choice", 9, {4}, 1, {0, 1, 0, 1}},
    {"steps", 7, {4}, 1, {0, 1, 0, 1}},
    {"mask", 7, {4}, 1, {1, 1, 0, 1}},
    {"twice", 7, {4}, 1, {1, 1, 1, 2}},
    {"huge", 7, {4}, 1, {2000000000, 2000000000, 2000000000, 2000000000}},
    {"half", 7, {2}, 1, {0, 1}},
    {"spots", 7, {2, 1}, 2, {1, 3}},
    {"places", 7, {2}, 1, {1, 3}},
    {"updates", 7, {2}, 1, {1, 2}},
    {"large", 7, {4}, 1, {3, 4, 6, 8}},
    {"wide", 1, {4}, 1, {9, 8, 7, 6}},
    {"tall", 1, {4, 3}, 2, {9, 1, 2, 1, 9, 2, 9, 1, 1, 1, 2, 9}},
    {"squares", 1, {4}, 1, {0, 1, 0, 4}},
    {"square", 1, {4, 2}, 2, {0, 0, 1, 0, 0, 0, 0, 1}},
    {"vector", 1, {2}, 1, {1, 2}},
};

static void add_constant(onnx_bytes *graph, const table_entry *entry)
{
    unsigned char data[12 * 8];
    size_t count = 1, size = entry->type == 7 ? 8 : entry->type == 1 ? 4 : 1;
    for (int i = 0; i < entry->rank; i++)
        count *= (size_t)entry->extents[i];
    for (size_t i = 0; i < count; i++) {
        const int64_t whole = entry->values[i];
        const float real = (float)entry->values[i];
        memcpy(data + i * size, entry->type == 1 ? (const void *)&real : (const void *)&whole, size);
    }
    const onnx_bytes tensor = onnx_tensor_of(entry->name, entry->type, entry->extents, entry->rank, data, count * size);
    onnx_message(graph, 5, &tensor);
}

/* ---- the cases ---- */

/* Nodes "Operator inputs > outputs | attribute number", the last of which gives p, the borders [0, 1, 0, 2]. */
typedef struct fold_case {
    const char *name;
    const char *nodes[3];
} fold_case;

static const fold_case cases[] = {
    {"rows turned round", {"Slice upside m1 before zero m1 > s", "Reshape s m1 > p"}},
    {"transposed", {"Transpose turned > t", "Reshape t m1 > p"}},
    {"sum of rows", {"ReduceSum pairs one > t", "Reshape t m1 > p"}},
    {"product of rows", {"ReduceProd factors > t | axes 1", "Reshape t m1 > p"}},
    {"largest of rows", {"ReduceMax pairs > t | axes 1", "Reshape t m1 > p"}},
    {"sums so far", {"CumSum steps zero > t", "Mul t mask > p"}},
    {"scattered by coordinates", {"ScatterND zeros spots updates > p"}},
    {"scattered", {"ScatterElements zeros places updates > p"}},
    {"positions of the largest", {"TopK wide four > v t", "Gather pads t > p"}},
    {"places of what is not 0", {"NonZero large > n", "Reshape n m1 > t", "Gather pads t > p"}},
    {"remainder", {"Mod large three > p"}},
    {"selected", {"Greater pads zero > g", "Where g pads zeros > p"}},
    {"elements by indices", {"GatherElements pads order > p"}},
    {"elements by coordinates", {"GatherND pads column > p"}},
    {"one part", {"Split pads > p"}},
    {"repeated", {"Tile half two > t", "Mul t twice > p"}},
    {"the position of the largest", {"ArgMax tall > t | axis 1", "Reshape t m1 > p"}},
    {"roots", {"Sqrt squares > r", "Cast r > p | to 7"}},
    {"matrix product", {"MatMul square vector > r", "Cast r > p | to 7"}},
    {"above the diagonal", {"Trilu triangle > t", "Reshape t m1 > p"}},
    {"choice of rows", {"Compress rows choice > t | axis 0", "Reshape t m1 > p"}},
    {"quotients of extents", {"Shape wide > s", "Div pads s > q", "Add q pads > p"}},
};

static void add_attribute(onnx_bytes *node, const char *text)
{
    char name[32];
    int value;
    if (sscanf(text, "%31s %d", name, &value) != 2)
        abort();
    const int64_t number = value;
    if (strcmp(name, "axes") == 0)
        onnx_ints_attribute(node, name, &number, 1);
    else
        onnx_int_attribute(node, name, number);
}

static void add_node(onnx_bytes *graph, const char *text)
{
    char copy[128], *saved = NULL;
    onnx_bytes node = {.size = 0};
    unsigned field = 4;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &saved); word != NULL; word = strtok_r(NULL, " ", &saved)) {
        if (strcmp(word, "|") == 0)
            break;
        if (strcmp(word, ">") == 0) {
            field = 2;
            continue;
        }
        onnx_text(&node, field, word);
        field = field == 4 ? 1 : field;
    }
    if (strchr(text, '|') != NULL)
        add_attribute(&node, strchr(text, '|') + 2);
    onnx_message(graph, 1, &node);
}

static onnx_bytes padded(const fold_case *c)
{
    const int64_t extents[] = {2, 3};
    onnx_bytes graph = onnx_begin(extents, 2);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        add_constant(&graph, &table[i]);
    for (size_t i = 0; i < sizeof c->nodes / sizeof *c->nodes && c->nodes[i] != NULL; i++)
        add_node(&graph, c->nodes[i]);
    add_node(&graph, "Pad x p > y");
    return onnx_model_of(&graph, 14);
}

static void test_what_any_operator_makes_of_constants_is_known(void)
{
    const float x[] = {1, 2, 3, 4, 5, 6};
    const double y[] = {0, 1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const onnx_bytes model = padded(&cases[i]);
        onnx_check_run(cases[i].name, &model, x, 6, y, 12);
    }
}

static void test_what_an_input_decides_is_not_known(void)
{
    const fold_case c = {"computed", {"Shape x > s", "Cast x > i | to 7", "ReduceMax i > p"}};
    mw_error err = {0};
    const onnx_bytes model = padded(&c);
    CHECK(onnx_read_bytes(&model, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "Pad \"y\": input 1 must be known when the file is read, and is computed");
}

/* int32 stands for the integers of files, which are wider: a number that leaves it is not taken for one that is known.
 */
static void test_integers_that_leave_int32_on_the_way_are_not_known(void)
{
    static const fold_case wide[] = {{"sum", {"Add huge huge > a", "Mod a three > p"}},
                                     {"product", {"Mul huge three > a", "Mod a three > p"}},
                                     {"sums", {"CumSum huge zero > a", "Mod a three > p"}},
                                     {"whole sum", {"ReduceSum huge zero > a", "Tile a four > t", "Mod t three > p"}}};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        mw_error err = {0};
        const onnx_bytes model = padded(&wide[i]);
        CHECK(onnx_read_bytes(&model, NULL, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "Pad \"y\": input 1 must be known when the file is read");
    }
}

/* The condition is the product of two constants. */
static void test_a_branch_of_a_computed_constant_is_taken_when_the_file_is_read(void)
{
    const int64_t extents[] = {2, 3};
    const float x[] = {-1, 2, -3, 4, -5, 6};
    const double y[] = {0, 2, 0, 4, 0, 6};
    onnx_bytes graph = onnx_begin(extents, 2), node = onnx_node("If", "c", "y");
    static const char *const names[] = {"then_branch", "else_branch"}, *const nodes[] = {"Relu x > z", "Shape x > z"};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        add_constant(&graph, &table[i]);
    add_node(&graph, "MatMul vector vector > d");
    add_node(&graph, "Cast d > c | to 9");
    for (int i = 0; i < 2; i++) {
        onnx_bytes body = {.size = 0}, result = {.size = 0}, attribute = {.size = 0};
        add_node(&body, nodes[i]);
        onnx_text(&result, 1, "z");
        onnx_message(&body, 12, &result);
        onnx_text(&attribute, 1, names[i]);
        onnx_message(&attribute, 6, &body);
        onnx_number(&attribute, 20, 5);
        onnx_message(&node, 5, &attribute);
    }
    onnx_message(&graph, 1, &node);
    const onnx_bytes model = onnx_model(&graph);
    onnx_check_run("If", &model, x, 6, y, 6);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_what_any_operator_makes_of_constants_is_known);
    RUN(test_what_an_input_decides_is_not_known);
    RUN(test_integers_that_leave_int32_on_the_way_are_not_known);
    RUN(test_a_branch_of_a_computed_constant_is_taken_when_the_file_is_read);
    folder_leave(folder);
    return check_finish();
}
