// The headers from C++: every one compiles, the shape and axis macros mean what they mean in C, and symbols link.
#include <cstddef>
#include <cstdio>
#include <e5rt/e5rt.h>
#include <millwright/ane_e5rt.h>
#include <millwright/millwright.h>

static_assert(MW_SHAPE(2, 3, 4).rank == 3 && MW_SHAPE(2, 3, 4).dim[2] == 4, "extents in order");
static_assert(MW_SHAPE(7).rank == 1 && MW_SHAPE(1, 2, 3, 4, 5, 6, 7, 8).dim[7] == 8, "rank 1 and the largest");
static_assert(MW_AXES(-1).count == 1 && MW_AXES(0, -2).axis[1] == -2, "axes keep their sign");
static_assert(MW_ALL_AXES.count == 0, "no axis listed means every axis");

static bool rows_are_summed(mw_program *program)
{
    const float x[6] = {1, 2, 3, 4, 5, 6};
    float sums[2] = {};
    mw_error err = {};
    mw_program_write(program, "x", MW_F32, x, 6, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "sums", MW_F32, sums, 2, &err);
    return err.status == MW_OK && sums[0] == 6 && sums[1] == 15;
}

int main()
{
    const std::size_t rows = 2; // extents are often of another type than int64_t
    const int columns = 3;
    mw_error err = {};
    mw_graph *graph = mw_graph_create(nullptr, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(rows, columns));
    mw_output(mw_reduce_sum(x, MW_AXES(-1), false), "sums");
    mw_program *program = mw_program_create(graph, nullptr, &err);
    const bool good = program != nullptr && rows_are_summed(program);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    std::puts(good ? "1 passed, 0 failed" : "0 passed, 1 failed");
    return good ? 0 : 1;
}
