/* One program, many shapes: reads a MIL program with `?` extents, prints what they admit, and runs it with some. Say
 * the path of a model.mil with one input, or none for a small one. */
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* y = softmax of the rows of x, up to 8 of them. */
static const char rows[] =
    "program(1.3){func main<ios17>(tensor<fp32, [?, 3]> x)[FlexibleShapeInformation = tuple<tuple<string, dict<string, "
    "tensor<int32, [?]>>>, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>(((\"DefaultShapes\", {{\"x\", [1, "
    "3]}}), (\"RangeDims\", {{\"x\", [[1, 8], [3, 3]]}})))]{int32 axis = const()[val = int32(-1)];"
    "tensor<fp32, [?, 3]> y = softmax(axis = axis, x = x);} -> (y);}";

static void print_admitted(const mw_graph *graph, const char *input, mw_error *err)
{
    mw_admitted_shapes admitted;
    if (mw_graph_admitted_shapes(graph, input, &admitted, err) != MW_OK)
        return;
    printf("\"%s\":", input);
    for (int i = 0; i < admitted.declared.rank; i++) {
        const bool open = admitted.declared.dim[i] == MW_DIM_UNKNOWN, ranges = admitted.kind == MW_ADMITS_RANGES;
        if (!open)
            printf(" %lld", (long long)admitted.declared.dim[i]);
        else if (ranges && admitted.high.dim[i] != MW_DIM_UNKNOWN)
            printf(" %lld..%lld", (long long)admitted.low.dim[i], (long long)admitted.high.dim[i]);
        else
            printf(" ?");
    }
    if (admitted.kind == MW_ADMITS_LISTED)
        printf(", one of %zu shapes", admitted.count);
    printf("\n");
}

/* Every extent that may be chosen is n. */
static mw_input_shape shape_for(const mw_tensor *input, int64_t n)
{
    mw_input_shape wanted = {.input = mw_tensor_name(input), .shape = mw_tensor_shape(input)};
    for (int i = 0; i < wanted.shape.rank; i++)
        if (wanted.shape.dim[i] == MW_DIM_UNKNOWN)
            wanted.shape.dim[i] = n;
    return wanted;
}

static void run_with(mw_program *program, const mw_input_shape *wanted, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(wanted->shape);
    float *x = calloc(count + 1, sizeof *x);
    for (size_t i = 0; x != NULL && i < count; i++)
        x[i] = (float)(i % 7) / 7;
    mw_program_set_shapes(program, wanted, 1, err);
    mw_program_write(program, wanted->input, MW_F32, x, count, err);
    mw_program_run(program, err);
    mw_port port;
    for (size_t i = 0; err->status == MW_OK && mw_program_port_at(program, i, &port); i++) {
        printf("  %s", port.name);
        for (int d = 0; d < port.shape.rank; d++)
            printf("%s%lld", d == 0 ? " [" : ", ", (long long)port.shape.dim[d]);
        printf("%s\n", port.shape.rank > 0 ? "]" : "");
    }
    free(x);
}

int main(int argc, char **argv)
{
    mw_error err = {0};
    mw_graph *graph =
        argc > 1 ? mw_graph_open_mil(argv[1], NULL, &err) : mw_graph_parse_mil(rows, strlen(rows), NULL, NULL, &err);
    const mw_tensor *input = mw_graph_input_at(graph, 0);
    mw_program *program = mw_program_create(graph, NULL, &err);
    if (err.status == MW_OK)
        print_admitted(graph, mw_tensor_name(input), &err);
    for (int64_t n = 1; n <= 3 && err.status == MW_OK; n++) {
        const mw_input_shape wanted = shape_for(input, n);
        run_with(program, &wanted, &err);
    }
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return err.status != MW_OK;
}
