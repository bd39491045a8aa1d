/* The pictures of docs/report.md. MW_UPDATE_GOLDENS=1 writes them anew. */
#include "networks.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"

#include <millwright/view.h>

static void test_the_picture_of_a_transformer_is_fresh(void)
{
    mw_error err = {0};
    mw_graph *graph = transformer_make(12);
    mw_draw_options options = mw_draw_defaults();
    options.title = "a small transformer";
    char *svg = mw_graph_print_svg(graph, &options, &err);
    CHECK_OK(err);
    if (svg != NULL)
        page_check(MW_TESTS_DIR "/../docs/graph_transformer.svg", svg);
    mw_string_free(svg);
    mw_graph_destroy(graph);
}

/* As mw_trainer_fit writes it: a loss that falls, a step that was refused, three epochs. */
static void put_metrics(const char *path)
{
    static const char *const weights[] = {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"};
    FILE *file = fopen(path, "wb");
    fprintf(file, "{\"kind\":\"run\",\"format\":1}\n");
    for (int i = 1; i <= 150; i++) {
        const double falls = 1.0 / (1.0 + i / 12.0), ripple = 0.08 * ((i * 7919) % 101) / 101.0;
        fprintf(file, "{\"kind\":\"step\",\"step\":%d,\"epoch\":%d,", i * 10, (i - 1) / 50 + 1);
        if (i == 97)
            fprintf(file, "\"loss\":null,\"non_finite\":{\"loss\":\"nan\"}}\n");
        else
            fprintf(file, "\"loss\":%.5f,\"learning_rate\":%.6f,\"examples_per_second\":%.0f", 2.2 * falls + ripple,
                    i < 15 ? i / 15e3 : 1e-3 * (165 - i) / 150.0, 31000 + 9000 * ripple);
        for (int k = 0; k < 4 && i != 97; k++)
            fprintf(file, ",\"gradient_norm/%s\":%.5f", weights[k], (1.6 - 0.35 * k) * falls + ripple * (4 - k) / 4);
        fprintf(file, i != 97 ? "}\n" : "");
        if (i % 50 == 0)
            fprintf(file, "{\"kind\":\"epoch\",\"step\":%d,\"validation/loss\":%.5f,\"validation/accuracy\":%.4f}\n",
                    i * 10, 2.1 * falls + 0.06, 0.99 - 0.5 * falls);
    }
    fclose(file);
}

static void test_the_picture_of_a_run_is_fresh(void)
{
    mw_error err = {0};
    char folder[512];
    REQUIRE(folder_enter(folder));
    put_metrics("metrics.jsonl");
    mw_plot_options options = mw_plot_defaults();
    options.title = "a small run";
    char *svg = mw_plot_print_svg("metrics.jsonl", &options, &err);
    CHECK_OK(err);
    if (svg != NULL)
        page_check(MW_TESTS_DIR "/../docs/plot_run.svg", svg);
    mw_string_free(svg);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_the_picture_of_a_run_is_fresh);
    RUN(test_the_picture_of_a_transformer_is_fresh);
    return check_finish();
}
