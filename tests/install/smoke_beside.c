/* The libraries beside the core, linked: each works on a graph of the core's, and what they register the core knows. */
#include <millwright/chip_all.h>
#include <millwright/data.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <millwright/view.h>
#include <stdio.h>
#include <string.h>

static int bad;

static void check_claim(bool good, const char *otherwise)
{
    if (!good)
        fprintf(stderr, "smoke_beside: %s\n", otherwise);
    bad += !good;
}

/* Which function the core asks for when it is given a netplist. */
static bool names_registration(void)
{
    mw_error err = {0};
    mw_model_destroy(mw_model_open("/nonexistent/net.espresso.net", NULL, &err));
    return strstr(err.message, "mw_chip_register") != NULL;
}

int main(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 8));
    mw_output(mw_relu(x), "y");
    mw_summary *summary = mw_summary_create(graph, &err);
    check_claim(summary != NULL, "view does not summarize a graph of the core");
    mw_summary_destroy(summary);
    mw_chip_placement *placement = mw_chip_placement_create(graph, MW_CHIP_H13, NULL, &err);
    check_claim(placement != NULL, "chip does not place a graph of the core");
    mw_chip_placement_destroy(placement);
    mw_chip_report *report = mw_chip_report_create(graph, MW_CHIP_H13, NULL, &err);
    check_claim(report != NULL, "inspect does not check a graph of the core");
    mw_chip_report_destroy(report);
    float values[] = {1.0f, 2.0f, 3.0f};
    const mw_column column = {.name = "x", .dtype = MW_F32, .data = values};
    mw_dataset *dataset = mw_dataset_create(&column, 1, 3, false, &err);
    mw_dataset *part = mw_dataset_shard(dataset, 1, 3, &err);
    check_claim(mw_dataset_examples(part) == 1, "data does not divide a data set of the core");
    mw_dataset_destroy(part);
    mw_dataset_destroy(dataset);
    check_claim(names_registration(), "the core reads a netplist before anybody registered");
    mw_chip_register();
    check_claim(!names_registration(), "the core does not know of what was registered");
    mw_graph_destroy(graph);
    return bad;
}
