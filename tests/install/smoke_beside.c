/* The libraries beside the core, linked: each works on a graph of the core's, and what they register the core knows. */
#include <millwright/chip_all.h>
#include <millwright/communicator.h>
#include <millwright/data.h>
#include <millwright/inspect.h>
#include <millwright/learn.h>
#include <millwright/millwright.h>
#include <millwright/text.h>
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

/* ---- a transport of one rank, which sends nothing ---- */

static mw_status send_nothing(void *user, int to, int tag, const void *data, size_t size, void **request, mw_error *err)
{
    (void)user, (void)to, (void)tag, (void)data, (void)size, (void)request, (void)err;
    return MW_ERROR_STATE;
}

static mw_status receive_nothing(void *user, int from, int tag, void *data, size_t size, void **request, mw_error *err)
{
    (void)user, (void)from, (void)tag, (void)data, (void)size, (void)request, (void)err;
    return MW_ERROR_STATE;
}

static mw_status test_nothing(void *user, void *request, bool *done, size_t *size, mw_error *err)
{
    (void)user, (void)request, (void)done, (void)size, (void)err;
    return MW_ERROR_STATE;
}

static void cancel_nothing(void *user, void *request) { (void)user, (void)request; }

/* A trainer of the core takes a communicator of the library beside it. */
static bool trains_with_ranks(mw_tensor *loss)
{
    mw_error err = {0};
    mw_transport transport = mw_transport_defaults("none", 0, 1);
    transport.send = send_nothing;
    transport.receive = receive_nothing;
    transport.test = test_nothing;
    transport.cancel = cancel_nothing;
    mw_communicator *ranks = mw_communicator_create(&transport, NULL, &err);
    mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(0.1f));
    options.ranks.communicator = ranks;
    mw_trainer_destroy(mw_trainer_create(&options, &err));
    mw_communicator_finish(ranks, &err);
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    return ranks != NULL && err.status == MW_OK;
}

static mw_tensor *make_loss(mw_graph *graph)
{
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(2, 3), mw_init_constant(1));
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    return mw_mse(mw_mul(x, w), mw_input(graph, "y", MW_F32, MW_SHAPE(2, 3)));
}

int main(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 8));
    mw_output(mw_relu(x), "y");
    check_claim(mw_shape_equal(mw_tensor_shape(mw_normalize(x, -1, 0.001f)), mw_tensor_shape(x)),
                "learn does not add to a graph of the core");
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
    mw_error_clear(&err);
    check_claim(mw_tokenizer_open("/nonexistent/tokenizer.json", &err) == NULL && err.status == MW_ERROR_FILE,
                "text does not say that a file is missing");
    mw_error_clear(&err);
    check_claim(names_registration(), "the core reads a netplist before anybody registered");
    mw_chip_register();
    check_claim(!names_registration(), "the core does not know of what was registered");
    mw_graph_destroy(graph);
    mw_graph *net = mw_graph_create(NULL, NULL);
    check_claim(trains_with_ranks(make_loss(net)), "a trainer of the core takes no communicator of ranks");
    mw_graph_destroy(net);
    return bad;
}
