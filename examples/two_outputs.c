/* A small program with two results: prints the MIL text that runs, then what it computed. No data is needed. */
#include <millwright/millwright.h>
#include <stdio.h>

static void print_rows(const char *title, const float *values, int rows, int columns)
{
    printf("%s\n", title);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++)
            printf(" %8.4f", (double)values[i * columns + j]);
        printf("\n");
    }
}

int main(void)
{
    static const float x_data[2 * 3] = {1, 2, 3, -1, 0, 1};
    static const float w_data[3 * 4] = {1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1};

    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    mw_tensor *w = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(3, 4), w_data), "w");
    mw_tensor *scores = mw_name(mw_matmul(x, w, MW_TRANSPOSE_NONE), "scores");
    mw_output(mw_softmax(scores, -1), "probabilities");                 /* [2, 4] */
    mw_output(mw_reduce_max(scores, MW_AXES(-1), false), "best_score"); /* [2] */

    mw_error err = {0};
    mw_program *program = mw_program_create(graph, NULL, &err);
    mw_graph_destroy(graph); /* a program does not need its graph any more */

    float probabilities[2 * 4], best_score[2];
    mw_program_write(program, "x", MW_F32, x_data, 2 * 3, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "probabilities", MW_F32, probabilities, 2 * 4, &err);
    mw_program_read(program, "best_score", MW_F32, best_score, 2, &err);

    if (err.status == MW_OK) {
        printf("%s\n", mw_program_get_info(program).mil);
        printf("runs on %s\n", mw_program_get_info(program).where);
        print_rows("probabilities", probabilities, 2, 4);
        print_rows("best score", best_score, 1, 2);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    mw_program_destroy(program);
    return err.status != MW_OK;
}
