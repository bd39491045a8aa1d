/* Names that could not be saved are refused by every call that takes one, as they are given. */
#include "graph_check.h"

#include <stdlib.h>

typedef mw_tensor *take(mw_graph *graph, const char *name);

static mw_tensor *x2(mw_graph *graph) { return mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3)); }
static mw_tensor *x4(mw_graph *graph) { return mw_input(graph, "x", MW_F32, MW_SHAPE(2, 4, 5, 5)); }

static mw_tensor *as_input(mw_graph *g, const char *name) { return mw_input(g, name, MW_F32, MW_SHAPE(2)); }
static mw_tensor *as_parameter(mw_graph *g, const char *name)
{
    return mw_parameter(g, name, MW_F32, MW_SHAPE(2), mw_init_zeros());
}
static mw_tensor *as_state(mw_graph *g, const char *name)
{
    return mw_state(g, name, MW_F32, MW_SHAPE(2), mw_init_zeros());
}
static mw_tensor *as_name(mw_graph *g, const char *name) { return mw_name(mw_relu(x2(g)), name); }
static mw_tensor *as_output(mw_graph *g, const char *name) { return mw_output(mw_relu(x2(g)), name); }
static mw_tensor *as_dense(mw_graph *g, const char *name) { return mw_dense(x2(g), 4, name); }
static mw_tensor *as_conv(mw_graph *g, const char *name) { return mw_conv_layer(x4(g), 2, MW_SHAPE(3, 3), name, NULL); }
static mw_tensor *as_transpose(mw_graph *g, const char *name)
{
    return mw_conv_transpose_layer(x4(g), 2, MW_SHAPE(3, 3), name, NULL);
}
static mw_tensor *as_layer_norm(mw_graph *g, const char *name) { return mw_layer_norm_layer(x2(g), 1, 1e-5f, name); }
static mw_tensor *as_rms_norm(mw_graph *g, const char *name) { return mw_rms_norm_layer(x2(g), 1, 1e-5f, name); }
static mw_tensor *as_group_norm(mw_graph *g, const char *name) { return mw_group_norm_layer(x4(g), 2, 1e-5f, name); }
static mw_tensor *as_instance_norm(mw_graph *g, const char *name) { return mw_instance_norm_layer(x4(g), 1e-5f, name); }
static mw_tensor *as_batch_norm(mw_graph *g, const char *name) { return mw_batch_norm_layer(x4(g), 0.1f, 1e-5f, name); }
static mw_tensor *as_embedding(mw_graph *g, const char *name)
{
    return mw_embedding(mw_input(g, "i", MW_I32, MW_SHAPE(3)), 4, 4, name);
}
static mw_tensor *as_dropout(mw_graph *g, const char *name) { return mw_dropout(x2(g), 0.5f, name); }
static mw_tensor *as_normal(mw_graph *g, const char *name)
{
    return mw_noise_normal(g, MW_F32, MW_SHAPE(2), 0, 1, name);
}
static mw_tensor *as_uniform(mw_graph *g, const char *name)
{
    return mw_noise_uniform(g, MW_F32, MW_SHAPE(2), 0, 1, name);
}
static mw_tensor *as_bernoulli(mw_graph *g, const char *name)
{
    return mw_noise_bernoulli(g, MW_F32, MW_SHAPE(2), 0.5f, name);
}

static const struct {
    const char *call;
    take *take;
    bool whole; /* the name is used as it stands, without a part */
} calls[] = {
    {"input", as_input, true},
    {"parameter", as_parameter, true},
    {"state", as_state, true},
    {"name", as_name, true},
    {"output", as_output, true},
    {"dense", as_dense, false},
    {"conv_layer", as_conv, false},
    {"conv_transpose_layer", as_transpose, false},
    {"layer_norm_layer", as_layer_norm, false},
    {"rms_norm_layer", as_rms_norm, false},
    {"group_norm_layer", as_group_norm, false},
    {"instance_norm_layer", as_instance_norm, false},
    {"batch_norm_layer", as_batch_norm, false},
    {"embedding", as_embedding, false},
    {"dropout", as_dropout, false},
    {"noise_normal", as_normal, false},
    {"noise_uniform", as_uniform, false},
    {"noise_bernoulli", as_bernoulli, false},
};
enum { CALLS = sizeof calls / sizeof *calls };

static mw_status status_of(take *function, const char *name, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const mw_tensor *made = function(graph, name);
    mw_graph_check(graph, err);
    CHECK((made != NULL) == (err->status == MW_OK));
    mw_graph_destroy(graph);
    return err->status;
}

static void check_refused(const char *name, const char *part)
{
    for (size_t i = 0; i < CALLS; i++) {
        mw_error err = {0};
        status_of(calls[i].take, name, &err);
        check_note(err.status == MW_ERROR_ARGUMENT && strstr(err.message, part) != NULL, __FILE__, __LINE__, "%s: %s",
                   calls[i].call, err.message);
    }
}

static void test_control_characters_are_refused(void)
{
    char name[8];
    for (int c = 1; c < 0x80; c++) {
        snprintf(name, sizeof name, "a%cb", c);
        if (c < 0x20 || c == 0x7f)
            check_refused(name, "control character");
    }
}

static void test_text_that_is_no_utf8_is_refused(void)
{
    static const char *const names[] = {"\xff",     "a\x80",        "\xc0\xaf",         "caf\xe9",
                                        "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_refused(names[i], "not valid UTF-8");
}

static void test_long_names_are_refused(void)
{
    static char name[70000];
    memset(name, 'n', sizeof name - 1);
    check_refused(name, "bytes");
    check_refused(name + sizeof name - 1 - (MW_NAME_MAX + 1), "bytes");
    for (size_t i = 0; i < CALLS; i++) {
        mw_error err = {0};
        const size_t size = calls[i].whole ? MW_NAME_MAX : MW_NAME_MAX - sizeof ".num_batches_tracked";
        CHECK(status_of(calls[i].take, name + sizeof name - 1 - size, &err) == MW_OK);
        CHECK_OK(err);
    }
}

static void test_names_that_files_keep_are_refused(void)
{
    for (size_t i = 0; i < CALLS; i++) {
        mw_error err = {0};
        status_of(calls[i].take, "__metadata__", &err);
        CHECK(calls[i].whole ? err.status == MW_ERROR_ARGUMENT
                             : err.status == MW_OK); /* "__metadata__.weight" is fine */
    }
    check_refused("", "empty");
}

static void test_other_names_are_taken(void)
{
    static const char *const names[] = {
        "fc1.weight",       "a b", "\"quoted\"", "back\\slash", "caf\xc3\xa9", "\xe9\x87\x8d\xe3\x81\xbf",
        "\xf0\x9f\xa6\x80", "#",   "../../etc",  "%s%n"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (size_t i = 0; i < CALLS; i++) {
            mw_error err = {0};
            CHECK(status_of(calls[i].take, names[k], &err) == MW_OK);
            CHECK_OK(err);
        }
}

int main(void)
{
    RUN(test_control_characters_are_refused);
    RUN(test_text_that_is_no_utf8_is_refused);
    RUN(test_long_names_are_refused);
    RUN(test_names_that_files_keep_are_refused);
    RUN(test_other_names_are_taken);
    return check_finish();
}
