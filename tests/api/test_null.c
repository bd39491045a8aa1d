/* NULL wherever the public API takes a pointer: an error or a harmless value, never a crash. The last test holds this
 * file and test_null_data.c to the headers, so that a new function cannot be forgotten. */
#include "api/refused.h"

#include <ctype.h>
#include <millwright/ane_e5rt.h>
#include <millwright/communicator.h>
#include <millwright/data.h>
#include <millwright/inspect.h>
#include <millwright/learn.h>
#include <millwright/millwright.h>
#include <millwright/view.h>
#include <stdlib.h>

/* In a graph `g` with an input `x` [2, 3]: the call leaves an error on the graph. */
#define STICKS(call)                                                                                                   \
    do {                                                                                                               \
        mw_graph *g = mw_graph_create(NULL, NULL);                                                                     \
        mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, 3));                                                       \
        CHECK(x != NULL);                                                                                              \
        (void)(call);                                                                                                  \
        check_note(mw_graph_check(g, NULL) != MW_OK, __FILE__, __LINE__, "no error on the graph: %s", #call);          \
        mw_graph_destroy(g);                                                                                           \
    } while (0)

static void test_dispatch_refuses_null(void)
{
    void *data;
    size_t size;
    YIELDS_NULL(ane_e5rt_program_compile(NULL, NULL, 1, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(ane_e5rt_last_error()[0] != '\0');
    YIELDS_NULL(ane_e5rt_program_compile("no.mil", NULL, 1, NULL, NULL, 2, NULL, NULL, 2));
    CHECK(ane_e5rt_compile_check(NULL, NULL, 1, NULL) != 0);
    CHECK_INT(ane_e5rt_program_set_input_fp16(NULL, NULL, NULL, 0), -1);
    CHECK_INT(ane_e5rt_program_execute(NULL), -1);
    CHECK_INT(ane_e5rt_program_get_output_fp16(NULL, NULL, NULL, 0), -1);
    CHECK_INT(ane_e5rt_program_input_buffer(NULL, NULL, NULL, NULL), -1);
    CHECK_INT(ane_e5rt_program_output_buffer(NULL, "y", &data, &size), -1);
    CHECK_INT(ane_e5rt_program_share_buffer(NULL, 0, NULL, 0, NULL), -1);
    CHECK_INT(ane_e5rt_program_add_op(NULL, NULL, NULL, 0, NULL, 0), -1);
    CHECK_INT(ane_e5rt_program_get_op_count(NULL), 0);
    CHECK_INT(ane_e5rt_program_set_input_fp16_op(NULL, 0, NULL, NULL, 0), -1);
    CHECK_INT(ane_e5rt_program_get_output_fp16_op(NULL, 0, NULL, NULL, 0), -1);
    CHECK_INT(ane_e5rt_program_execute_multi(NULL), -1);
    CHECK_INT(ane_e5rt_program_chain_ops(NULL, 0, 0, NULL), -1);
    CHECK_INT(ane_e5rt_program_get_chain_event_last_signaled(NULL, 0, NULL), -1);
    CHECK_INT(ane_e5rt_program_bind_input_memory(NULL, 0, NULL, -1), -1);
    CHECK_INT(ane_e5rt_program_bind_output_memory(NULL, 0, NULL, -1), -1);
    CHECK_INT(ane_e5rt_program_execute_async(NULL), -1);
    CHECK_INT(ane_e5rt_program_wait_for_completion(NULL), -2);
    CHECK_INT(ane_e5rt_program_get_final_event_signaled(NULL, NULL, NULL), -1);
    YIELDS_NULL(ane_e5rt_make_completion_block(NULL, NULL));
    ane_e5rt_free_completion_block(NULL);
    ane_e5rt_program_release(NULL);
}

static void test_looks_into_programs_take_null(void)
{
    mw_comparison_destroy(NULL);
    const mw_comparison_info compared = mw_comparison_get_info(NULL);
    CHECK(!compared.passes && compared.count == 0 && mw_comparison_at(NULL, 0) == NULL);
    CHECK(compared.first_local == NULL && compared.first_accumulated == NULL);
    for (int side = 0; side < 2; side++)
        CHECK(compared.where[side] == NULL && compared.changed[side] == 0);
    CHECK(mw_trainer_comparison(NULL) == NULL);
    mw_ranges_destroy(NULL);
    CHECK(!mw_ranges_get_info(NULL).fits && mw_ranges_get_info(NULL).count == 0);
    CHECK(!mw_chip_report_get_info(NULL).passes && mw_chip_report_get_info(NULL).finding_count == 0);
    CHECK(mw_ranges_at(NULL, 0) == NULL && mw_ranges_worst_at(NULL, 0) == NULL);
    CHECK(mw_ranges_product_at(NULL, 0) == NULL && mw_ranges_get_info(NULL).profile == NULL);
    mw_plan_destroy(NULL);
    CHECK_INT(mw_plan_get_totals(NULL).step_count, 0);
    CHECK(!mw_plan_step_at(NULL, 0, NULL) && !mw_plan_buffer_at(NULL, 0, NULL));
    mw_plan_print(NULL, NULL, NULL);
}

static void test_values_take_null(void)
{
    mw_optimizer_number_info number;
    CHECK(!mw_optimizer_set(NULL, MW_OPTIMIZER_BETA1, 0.5) && mw_optimizer_get(NULL, MW_OPTIMIZER_BETA1) == 0.0);
    CHECK(!mw_optimizer_number_at(NULL, 0, &number) && !mw_parameter_group_set(NULL, MW_GROUP_FROZEN, 1));
    CHECK_STR(mw_optimizer_name(NULL), "?");
}

static void test_destroy_and_queries_take_null(void)
{
    mw_graph_destroy(NULL);
    mw_program_destroy(NULL);
    mw_trainer_destroy(NULL);
    mw_dataset_destroy(NULL);
    mw_summary_destroy(NULL);
    CHECK_INT(mw_summary_count(NULL), 0);
    YIELDS_NULL(mw_summary_at(NULL, 0));
    CHECK_INT(mw_summary_get_totals(NULL).layers, 0);
    mw_tensors_destroy(NULL);
    CHECK_STR(mw_tensors_get_info(NULL).format, "");
    CHECK_INT(mw_tensors_get_info(NULL).count, 0);
    YIELDS_NULL(mw_tensors_at(NULL, 0));
    YIELDS_NULL(mw_tensors_find(NULL, "x"));
    YIELDS_NULL(mw_tensors_note_at(NULL, 0));
    YIELDS_NULL(mw_tensors_note_find(NULL, "x"));
    mw_coreml_destroy(NULL);
    YIELDS_NULL(mw_coreml_get_info(NULL).description);
    YIELDS_NULL(mw_coreml_part(NULL, 0));
    CHECK_INT(mw_coreml_get_info(NULL).part_count, 0);
    CHECK_INT(mw_coreml_get_info(NULL).specification, 0);
    CHECK_STR(mw_coreml_get_info(NULL).kind, "");
    CHECK_STR(mw_coreml_get_info(NULL).name, "");
    YIELDS_NULL(mw_description_find(NULL, "x"));
    YIELDS_NULL(mw_description_find(&(mw_function_description){.name = "main"}, NULL));
    mw_loader_destroy(NULL);
    mw_metrics_destroy(NULL);
    mw_string_free(NULL);
    CHECK_INT(mw_dataset_examples(NULL), 0);
    YIELDS_NULL(mw_dataset_column_at(NULL, 0));
    CHECK_INT(mw_loader_batches(NULL), 0);
    CHECK_INT(mw_loader_tell(NULL).batch, 0);
    CHECK_INT(mw_graph_opset(NULL), 0);
    CHECK_INT(mw_tensor_dtype(NULL), MW_DTYPE_NONE);
    CHECK_INT(mw_tensor_shape(NULL).rank, 0);
    CHECK_STR(mw_tensor_name(NULL), "");
    YIELDS_NULL(mw_tensor_graph(NULL));
    YIELDS_NULL(mw_graph_find(NULL, "x"));
    CHECK_INT(mw_program_get_info(NULL).port_count, 0);
    CHECK(!mw_program_port_at(NULL, 0, NULL));
    CHECK_INT(mw_program_get_info(NULL).warning_count, 0);
    CHECK(!mw_program_warning_at(NULL, 0, NULL));
    CHECK_INT(mw_trainer_get_info(NULL).warning_count, 0);
    CHECK(!mw_trainer_warning_at(NULL, 0, NULL));
    CHECK_STR(mw_program_get_info(NULL).mil, "");
    CHECK_STR(mw_program_get_info(NULL).where, "");
    CHECK(mw_trainer_get_info(NULL).learning_rate == 0.0f);
    CHECK_INT(mw_trainer_get_info(NULL).steps, 0);
    CHECK_INT(mw_mil_snippet(NULL, NULL, NULL, 0, NULL, 0), MW_ERROR_ARGUMENT);
    STICKS(mw_mil_snippet(g, NULL, &x, 1, NULL, 0));
    STICKS(mw_mil_snippet(g, "func f<ios15>() {} -> ();", NULL, 1, &x, 1));
    YIELDS_NULL(mw_layer_create(NULL, "fc", NULL, NULL));
    STICKS(mw_layer_create(g, NULL, NULL, NULL));
    STICKS(mw_layer_create(g, "fc", NULL, NULL));
    YIELDS_NULL(mw_layer_apply(NULL, NULL, 0));
    STICKS(mw_layer_apply(mw_layer_dense(g, 2, "fc"), NULL, 1));
    STICKS(mw_layer_apply_one(mw_layer_dense(g, 2, "fc"), NULL));
    YIELDS_NULL(mw_layer_apply_one(NULL, NULL));
    CHECK_INT(mw_graph_opset(NULL), 0);
    YIELDS_NULL(mw_layer_dense(NULL, 2, "fc"));
    STICKS(mw_layer_dense(g, 2, NULL));
    STICKS(mw_layer_conv(g, 2, MW_SHAPE(3), NULL, NULL));
    STICKS(mw_layer_embedding(g, 2, 2, NULL));
    STICKS(mw_layer_layer_norm(g, 1, 1e-5f, NULL));
    STICKS(mw_layer_batch_norm(g, 0.1f, 1e-5f, NULL));
    YIELDS_NULL(mw_update_call_scalar(NULL, "learning_rate"));
    YIELDS_NULL(mw_optimizer_rule_defaults(NULL, NULL).name);
    CHECK(mw_trainer_get_info(NULL).watch_count == 0 && !mw_trainer_watch_at(NULL, 0, NULL));
    CHECK(mw_trainer_get_info(NULL).loss_scale == 0.0f && mw_trainer_get_info(NULL).gradient_norm == 0.0);
    CHECK_INT(mw_trainer_get_info(NULL).counters.steps, 0);
    CHECK_INT(mw_trainer_get_info(NULL).parts.calls, 0);
    CHECK_INT(mw_trainer_get_info(NULL).recomputation.stretches, 0);
    YIELDS_NULL(mw_trainer_program(NULL));
    CHECK(isnan(mw_schedule_factor(NULL, 0, 1)));
    mw_error_clear(NULL);
    REFUSED(mw_thread_hooks_set(&(const mw_thread_hooks){0}, &err));
    CHECK(!mw_program_placement_at(NULL, 0, NULL));
    CHECK(isnan(mw_schedule_factor(NULL, 0, 1)));
    const mw_schedule custom = mw_schedule_custom(NULL, NULL);
    CHECK(isnan(mw_schedule_factor(&custom, 0, 1)));
}

static void test_random_constructors_pass_null_on(void)
{
    YIELDS_NULL(mw_random_normal(NULL, MW_F32, MW_SHAPE(1), 0, 1, 0));
    YIELDS_NULL(mw_random_uniform(NULL, MW_F32, MW_SHAPE(1), 0, 1, 0));
    YIELDS_NULL(mw_random_bernoulli(NULL, MW_F32, MW_SHAPE(1), 0, 0));
    YIELDS_NULL(mw_random_categorical(NULL, MW_CATEGORICAL_LOGITS, 1, 0));
    YIELDS_NULL(mw_noise_normal(NULL, MW_F32, MW_SHAPE(1), 0, 1, "n"));
    YIELDS_NULL(mw_noise_uniform(NULL, MW_F32, MW_SHAPE(1), 0, 1, "n"));
    YIELDS_NULL(mw_noise_bernoulli(NULL, MW_F32, MW_SHAPE(1), 0, "n"));
}

static void test_constructors_pass_null_on(void)
{
    mw_tensor *none[2] = {NULL, NULL};
    mw_tensor *(*const unary[])(mw_tensor *) = {mw_neg,  mw_abs,      mw_sign,          mw_square,     mw_sqrt,
                                                mw_exp,  mw_erf,      mw_tanh,          mw_sigmoid,    mw_relu,
                                                mw_silu, mw_identity, mw_stop_gradient, mw_logical_not};
    mw_tensor *(*const binary[])(mw_tensor *, mw_tensor *) = {
        mw_add, mw_sub,   mw_mul,       mw_real_div, mw_floor_div,  mw_maximum, mw_minimum,
        mw_pow, mw_equal, mw_not_equal, mw_less,     mw_less_equal, mw_greater, mw_greater_equal};
    mw_tensor *(*const reduce[])(mw_tensor *, mw_axes, bool) = {mw_reduce_sum, mw_reduce_mean, mw_reduce_max,
                                                                mw_reduce_min, mw_reduce_log_sum_exp};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2));
    for (size_t i = 0; i < sizeof unary / sizeof unary[0]; i++)
        YIELDS_NULL(unary[i](NULL));
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++) {
        YIELDS_NULL(binary[i](NULL, NULL));
        YIELDS_NULL(binary[i](x, NULL));
        YIELDS_NULL(binary[i](NULL, x));
    }
    for (size_t i = 0; i < sizeof reduce / sizeof reduce[0]; i++)
        YIELDS_NULL(reduce[i](NULL, MW_ALL_AXES, false));
    YIELDS_NULL(mw_select(NULL, x, NULL));
    YIELDS_NULL(mw_add_scalar(NULL, 1));
    YIELDS_NULL(mw_mul_scalar(NULL, 1));
    YIELDS_NULL(mw_rsqrt(NULL, 0));
    YIELDS_NULL(mw_inverse(NULL, 0));
    YIELDS_NULL(mw_log(NULL, 0));
    YIELDS_NULL(mw_gelu(NULL, MW_GELU_TANH));
    YIELDS_NULL(mw_clip(NULL, 0, 1));
    YIELDS_NULL(mw_cast(NULL, MW_F16));
    YIELDS_NULL(mw_one_hot(NULL, 2, 0, MW_F32, 1, 0));
    YIELDS_NULL(mw_gather(x, NULL, 0));
    YIELDS_NULL(mw_gather_along_axis(x, NULL, 0));
    YIELDS_NULL(mw_gather_nd(x, NULL, 1));
    YIELDS_NULL(mw_scatter(x, x, NULL, 0, MW_SCATTER_ADD));
    YIELDS_NULL(mw_scatter_along_axis(x, NULL, x, 0, MW_SCATTER_ADD));
    YIELDS_NULL(mw_scatter_nd(NULL, x, x, MW_SCATTER_ADD));
    YIELDS_NULL(mw_non_zero(NULL));
    YIELDS_NULL(mw_embedding(NULL, 2, 2, "e"));
    YIELDS_NULL(mw_argsort(NULL, 0, false));
    CHECK(mw_topk(NULL, 1, 0, false, none, NULL) != MW_OK);
    YIELDS_NULL(mw_matmul(NULL, x, MW_TRANSPOSE_NONE));
    YIELDS_NULL(mw_einsum(x, NULL, "chw,whr->chr"));
    YIELDS_NULL(mw_einsum(NULL, x, "chw,whr->chr"));
    YIELDS_NULL(mw_contract("i,i", (mw_tensor *[]){x, NULL}, 2));
    YIELDS_NULL(mw_linear(x, NULL, NULL));
    YIELDS_NULL(mw_dense(NULL, 2, "d"));
    YIELDS_NULL(mw_multi_head_attention_layer(NULL, NULL, NULL, 2, NULL, "a"));
    YIELDS_NULL(mw_lstm_layer(NULL, 2, "l", NULL).y);
    YIELDS_NULL(mw_gru_layer(NULL, 2, "g", NULL).h);
    YIELDS_NULL(mw_softmax(NULL, 0));
    YIELDS_NULL(mw_log_softmax(NULL, 0));
    YIELDS_NULL(mw_scaled_dot_product_attention(NULL, x, x, NULL));
    YIELDS_NULL(mw_scaled_dot_product_attention(x, NULL, NULL, x));
    YIELDS_NULL(mw_layer_norm(NULL, MW_ALL_AXES, x, x, 0));
    YIELDS_NULL(mw_instance_norm(NULL, x, x, 0));
    YIELDS_NULL(mw_group_norm(NULL, 1, x, x, 0));
    YIELDS_NULL(mw_rms_norm(NULL, MW_ALL_AXES, x, 0));
    YIELDS_NULL(mw_l2_norm(NULL, 0));
    YIELDS_NULL(mw_batch_norm(x, NULL, NULL, NULL, NULL, 0));
    YIELDS_NULL(mw_batch_norm(NULL, x, x, x, x, 0));
    YIELDS_NULL(mw_local_response_norm(NULL, 1, 1, 1, 1));
    YIELDS_NULL(mw_batch_norm_layer(NULL, 0.1f, 0, "bn"));
    YIELDS_NULL(mw_dropout(NULL, 0.5f, "drop"));
    YIELDS_NULL(mw_layer_norm_layer(NULL, 1, 0, "ln"));
    YIELDS_NULL(mw_rms_norm_layer(NULL, 1, 0, "rms"));
    YIELDS_NULL(mw_group_norm_layer(NULL, 1, 0, "gn"));
    YIELDS_NULL(mw_instance_norm_layer(NULL, 0, "in"));
    YIELDS_NULL(mw_reshape(NULL, MW_SHAPE(1)));
    YIELDS_NULL(mw_transpose(NULL, MW_AXES(0)));
    YIELDS_NULL(mw_expand_dims(NULL, MW_AXES(0)));
    YIELDS_NULL(mw_squeeze(NULL, MW_AXES(0)));
    YIELDS_NULL(mw_concat(none, 2, 0));
    YIELDS_NULL(mw_concat(NULL, 2, 0));
    YIELDS_NULL(mw_stack(none, 2, 0));
    YIELDS_NULL(mw_stack(NULL, 2, 0));
    YIELDS_NULL(mw_reverse(NULL, MW_ALL_AXES));
    YIELDS_NULL(mw_reverse_sequence(NULL, NULL, 1, 0));
    YIELDS_NULL(mw_sliding_windows(NULL, 0, 1, 1));
    YIELDS_NULL(mw_band_part(NULL, -1, 0));
    YIELDS_NULL(mw_flatten2d(NULL, 1));
    YIELDS_NULL(mw_shape_of(NULL));
    YIELDS_NULL(mw_fill_like(NULL, MW_F32, 0));
    YIELDS_NULL(mw_depth_to_space(NULL, 2));
    YIELDS_NULL(mw_space_to_depth(NULL, 2));
    YIELDS_NULL(mw_pixel_shuffle(NULL, 2));
    YIELDS_NULL(mw_pixel_unshuffle(NULL, 2));
    YIELDS_NULL(mw_space_to_batch(NULL, NULL, NULL));
    YIELDS_NULL(mw_batch_to_space(NULL, NULL, NULL));
    YIELDS_NULL(mw_slice_by_index(NULL, NULL));
    YIELDS_NULL(mw_slice_by_size(NULL, NULL, NULL));
    YIELDS_NULL(mw_slice_by_size_at(NULL, NULL, NULL));
    YIELDS_NULL(mw_slice_update(NULL, NULL, NULL));
    YIELDS_NULL(mw_slice_update_at(NULL, NULL, NULL));
    YIELDS_NULL(mw_tile(NULL, MW_SHAPE(1)));
    YIELDS_NULL(mw_pad(NULL, NULL, 1, MW_PAD_CONSTANT, 0));
    YIELDS_NULL(mw_name(NULL, "n"));
    YIELDS_NULL(mw_output(NULL, "n"));
    CHECK(mw_split(NULL, 2, 0, none) != MW_OK && mw_split_sizes(NULL, NULL, 2, 0, none) != MW_OK);
    CHECK_INT(mw_graph_check(graph, NULL), MW_OK); /* nobody is to blame on this graph */
    mw_graph_destroy(graph);
}

static void test_losses_pass_null_on(void)
{
    mw_tensor *(*const losses[])(mw_tensor *, mw_tensor *) = {mw_cross_entropy, mw_mse,  mw_accuracy, mw_nll, mw_l1,
                                                              mw_kl_divergence, mw_hinge};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2));
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        YIELDS_NULL(losses[i](NULL, NULL));
        YIELDS_NULL(losses[i](x, NULL));
        YIELDS_NULL(losses[i](NULL, x));
    }
    const mw_cross_entropy_options options = mw_cross_entropy_defaults();
    YIELDS_NULL(mw_cross_entropy_with(NULL, x, &options));
    YIELDS_NULL(mw_accuracy_ignoring(NULL, x, 0));
    YIELDS_NULL(mw_multi_margin(x, NULL, 1));
    YIELDS_NULL(mw_huber(NULL, x, 1));
    YIELDS_NULL(mw_smooth_l1(x, NULL, 1));
    YIELDS_NULL(mw_binary_cross_entropy(NULL, x, x));
    mw_graph_destroy(graph);
}

static void test_a_null_graph_yields_null(void)
{
    YIELDS_NULL(mw_input(NULL, "x", MW_F32, MW_SHAPE(1)));
    YIELDS_NULL(mw_state(NULL, "x", MW_F32, MW_SHAPE(1), mw_init_zeros()));
    YIELDS_NULL(mw_state_assign(NULL, NULL));
    YIELDS_NULL(mw_parameter(NULL, "x", MW_F32, MW_SHAPE(1), mw_init_zeros()));
    YIELDS_NULL(mw_constant(NULL, MW_F32, MW_SHAPE(1), NULL));
    YIELDS_NULL(mw_scalar(NULL, MW_F32, 1));
    YIELDS_NULL(mw_text(NULL, "t"));
    YIELDS_NULL(mw_fill(NULL, MW_F32, MW_SHAPE(1), 0));
    YIELDS_NULL(mw_range_1d(NULL, MW_F32, 0, 1, 1));
}

static void test_null_names_and_arrays_stick_to_the_graph(void)
{
    mw_tensor *result[2] = {NULL, NULL};
    const mw_argument nameless = {.name = NULL, .values = NULL, .count = 1}, empty = {.name = "x", .count = 1};
    STICKS(mw_custom_vjp("mine", x, &x, 1, NULL, NULL));
    STICKS(mw_recompute(mw_relu(x), NULL, 1));
    STICKS(mw_recompute(x, &x, 1));
    STICKS(mw_input(g, NULL, MW_F32, MW_SHAPE(1)));
    STICKS(mw_state(g, NULL, MW_F32, MW_SHAPE(1), mw_init_zeros()));
    STICKS(mw_batch_norm_layer(x, 0.1f, 0, NULL));
    STICKS(mw_dropout(x, 0.5f, NULL));
    STICKS(mw_noise_normal(g, MW_F32, MW_SHAPE(1), 0, 1, NULL));
    STICKS(mw_noise_uniform(g, MW_F32, MW_SHAPE(1), 0, 1, NULL));
    STICKS(mw_noise_bernoulli(g, MW_F32, MW_SHAPE(1), 0, NULL));
    STICKS(mw_parameter(g, NULL, MW_F32, MW_SHAPE(1), mw_init_zeros()));
    STICKS(mw_parameter(g, "p", MW_F32, MW_SHAPE(1), mw_init_data(NULL)));
    STICKS(mw_constant(g, MW_F32, MW_SHAPE(1), NULL));
    STICKS(mw_text(g, NULL));
    STICKS(mw_name(mw_relu(x), NULL));
    STICKS(mw_output(x, NULL));
    STICKS(mw_dense(x, 3, NULL));
    STICKS(mw_split(x, 3, 1, NULL));
    STICKS(mw_split_sizes(x, NULL, 2, 0, result));
    STICKS(mw_slice_by_index(x, NULL));
    STICKS(mw_slice_by_size(x, NULL, NULL));
    STICKS(mw_pad(x, NULL, 1, MW_PAD_CONSTANT, 0));
    STICKS(mw_op(g, NULL, NULL, 0, result, 1, NULL));
    STICKS(mw_op(g, "relu", NULL, 1, result, 1, NULL));
    STICKS(mw_op(g, "relu", &nameless, 1, result, 1, NULL));
    STICKS(mw_op(g, "relu", &empty, 1, result, 1, NULL));
    STICKS(mw_op(g, "relu", &(mw_argument){.name = "x", .values = &x, .count = 1}, 1, NULL, 1, NULL));
}

static void test_calls_with_an_error_refuse_null(void)
{
    mw_tensor *none = NULL, *dx;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2)), *loss = mw_reduce_sum(x, MW_ALL_AXES, false);
    REFUSED(mw_graph_check(NULL, &err));
    REFUSED(mw_graph_print(NULL, &err));
    REFUSED(mw_graph_evaluation(NULL, &err));
    const mw_tune_options tune = mw_tune_defaults(NULL, 0);
    const mw_lora_options lora = mw_lora_defaults(NULL, 0);
    REFUSED(mw_graph_trainable(NULL, &tune, &err));
    REFUSED(mw_graph_lora(NULL, &lora, &err));
    REFUSED(mw_graph_weights(NULL, NULL, 0, NULL, &err));
    YIELDS_NULL(mw_graph_input_at(NULL, 0));
    YIELDS_NULL(mw_graph_function_at(NULL, 0));
    YIELDS_NULL(mw_graph_output_at(NULL, 0));
    REFUSED(mw_grad(NULL, &x, 1, &dx, &err));
    REFUSED(mw_grad(loss, NULL, 1, &dx, &err));
    REFUSED(mw_grad(loss, &x, 1, NULL, &err));
    REFUSED(mw_grad(loss, &none, 1, &dx, &err));
    REFUSED(mw_backward(&(mw_pullback){.roots = NULL, .root_count = 1}, &x, 1, &dx, &err));
    REFUSED(mw_backward(NULL, &x, 1, &dx, &err));
    REFUSED(mw_backward(&(mw_pullback){.roots = &none, .root_count = 1}, &x, 1, &dx, &err));
    REFUSED(mw_backward(&(mw_pullback){.roots = &loss, .root_count = 1, .stop_count = 1}, &x, 1, &dx, &err));
    REFUSED(mw_vjp(NULL, NULL, 1, &x, 1, &dx, &err));
    REFUSED(mw_vjp(&loss, NULL, 1, NULL, 1, &dx, &err));
    REFUSED(mw_vmap(NULL, NULL, &x, &(const bool){true}, 1, &dx, 1, &err));
    REFUSED(mw_clip_examples(&none, 1, 1.0, &dx, &err));
    YIELDS_NULL(mw_example_norms(&none, 1));
    REFUSED(mw_jvp(NULL, 1, &x, NULL, 1, &dx, &err));
    REFUSED(mw_jvp(&none, 1, &x, NULL, 1, &dx, &err));
    REFUSED(mw_jvp(&loss, 1, NULL, NULL, 1, &dx, &err));
    REFUSED(mw_jvp(&loss, 1, &x, NULL, 1, NULL, &err));
    REFUSED(mw_hvp(NULL, &x, NULL, 1, &dx, &err));
    REFUSED(mw_hvp(loss, &x, NULL, 1, NULL, &err));
    REFUSED(mw_graph_flatten(NULL, &err));
    REFUSED(mw_graph_function(NULL, NULL, &err));
    REFUSED(mw_graph_admitted_shapes(NULL, NULL, NULL, &err));
    REFUSED(mw_graph_listed_shape(NULL, NULL, 0, NULL, &err));
    REFUSED(mw_graph_specialize(NULL, NULL, 1, &err));
    REFUSED(mw_graph_rebatch(NULL, 1, &err));
    REFUSED(mw_graph_stateful(NULL, &err));
    const mw_graph_options zeroed = {0};
    REFUSED(mw_graph_create(&zeroed, &err));
    mw_graph *made = mw_graph_create(NULL, NULL);
    CHECK(made != NULL);
    mw_graph_destroy(made);
    REFUSED(mw_gradcheck_run(NULL, NULL, &err));
    const mw_gradcheck_options unchecked = mw_gradcheck_defaults(NULL, NULL, 1);
    REFUSED(mw_gradcheck_run(&unchecked, NULL, &err));
    YIELDS_NULL(mw_recompute(NULL, NULL, 0));
    YIELDS_NULL(mw_custom_vjp("mine", NULL, NULL, 1, NULL, NULL));
    REFUSED(mw_op(NULL, "relu", NULL, 0, NULL, 0, &err));
    REFUSED(mw_graph_open_mil(NULL, NULL, &err));
    REFUSED(mw_coreml_open(NULL, NULL, &err));
    REFUSED(mw_coreml_graph(NULL, &err));
    REFUSED(mw_graph_write(NULL, "x.mlpackage", NULL, &err));
    REFUSED(mw_description_print(NULL, &err));
    REFUSED(mw_summary_create(NULL, &err));
    REFUSED(mw_summary_print(NULL, &err));
    REFUSED(mw_graph_write_svg(NULL, "x.svg", NULL, &err));
    REFUSED(mw_graph_write_dot(NULL, "x.dot", NULL, &err));
    REFUSED(mw_graph_print_svg(NULL, NULL, &err));
    REFUSED(mw_plot_write_svg(NULL, "x.svg", NULL, &err));
    REFUSED(mw_plot_print_svg(NULL, NULL, &err));
    REFUSED(mw_report_write(NULL, "x.html", &err));
    REFUSED(mw_report_print(NULL, &err));
    REFUSED(mw_graph_compress(NULL, NULL, &err));
    REFUSED(mw_graph_parse_mil(NULL, 5, NULL, NULL, &err));
    REFUSED(mw_graph_verify(NULL, &err));
    REFUSED(mw_graph_write(NULL, "folder", NULL, &err));
    REFUSED(mw_graph_write(graph, NULL, NULL, &err));
    REFUSED(mw_graph_print_mil(NULL, NULL, &err));
    REFUSED(mw_program_create(NULL, NULL, &err));
    REFUSED(mw_program_write(NULL, "x", MW_F32, NULL, 0, &err));
    REFUSED(mw_program_read(NULL, "x", MW_F32, NULL, 0, &err));
    REFUSED(mw_program_view(NULL, "x", &err));
    REFUSED(mw_program_classes(NULL, "x", &(mw_classes){0}, &err));
    REFUSED(mw_program_label(NULL, "x", &(mw_label){0}, &err));
    REFUSED(mw_program_set_weights(NULL, NULL, 0, &err));
    REFUSED(mw_program_load_weights(NULL, "w.safetensors", NULL, &err));
    REFUSED(mw_program_load_weights(NULL, "x.pt", NULL, &err));
    REFUSED(mw_program_load_weights(NULL, "adapter", NULL, &err));
    REFUSED(mw_program_set_shapes(NULL, NULL, 0, &err));
    REFUSED(mw_program_alias(NULL, "y", "x", &err));
    REFUSED(mw_program_run(NULL, &err));
    REFUSED(mw_program_profile(NULL, 1, &err));
    REFUSED(mw_comparison_create(NULL, NULL, &err));
    REFUSED(mw_comparison_print(NULL, &err));
    REFUSED(mw_ranges_create(NULL, NULL, &err));
    REFUSED(mw_ranges_create_trainer(NULL, NULL, &err));
    REFUSED(mw_ranges_print(NULL, &err));
    REFUSED(mw_comparison_save_batch(NULL, "batch", &err));
    REFUSED(mw_plan_create(NULL, &err));
    REFUSED(mw_plan_create_trainer(NULL, MW_TRAINER_STEP, &err));
    REFUSED(mw_trainer_profile(NULL, MW_TRAINER_STEP, 1, &err));
    REFUSED(mw_plan_write(NULL, "plan.txt", &err));
    REFUSED(mw_plan_write_trace(NULL, "trace.json", &err));
    mw_graph_destroy(graph);
}

static void test_training_refuses_null(void)
{
    const mw_trainer_options options = mw_trainer_defaults(NULL, mw_adam(1e-3f));
    const mw_fit_options fit = mw_fit_defaults(NULL, 1);
    REFUSED(mw_trainer_create(NULL, &err));
    REFUSED(mw_trainer_create(&options, &err));
    REFUSED(mw_trainer_step(NULL, NULL, NULL, &err));
    REFUSED(mw_trainer_set_learning_rate(NULL, 1, &err));
    REFUSED(mw_trainer_step_many(NULL, NULL, 1, NULL, &err));
    REFUSED(mw_trainer_use_averages(NULL, true, &err));
    REFUSED(mw_trainer_evaluate(NULL, NULL, NULL, NULL, &err));
    REFUSED(mw_trainer_predict(NULL, NULL, MW_F32, NULL, 0, &err));
    REFUSED(mw_trainer_watch_values(NULL, 0, MW_F32, NULL, 0, &err));
    REFUSED(mw_trainer_read(NULL, NULL, MW_F32, NULL, 0, &err));
    REFUSED(mw_trainer_write(NULL, NULL, MW_F32, NULL, 0, &err));
    REFUSED(mw_trainer_save(NULL, NULL, NULL, &err));
    REFUSED(mw_trainer_load(NULL, NULL, NULL, &err));
    REFUSED(mw_trainer_save_weights(NULL, NULL, &err));
    REFUSED(mw_trainer_load_weights(NULL, NULL, NULL, &err));
    REFUSED(mw_trainer_load_weights(NULL, "x.pt", NULL, &err));
    REFUSED(mw_graph_load_weights(NULL, "x.pt", NULL, &err));
    REFUSED(mw_trainer_export(NULL, NULL, NULL, NULL, &err));
    REFUSED(mw_trainer_export(NULL, NULL, NULL,
                              &(mw_write_options){.struct_size = sizeof(mw_write_options), .check_only = true}, &err));
    REFUSED(mw_trainer_save_lora(NULL, NULL, &err));
    REFUSED(mw_trainer_load_weights(NULL, NULL, NULL, &err));
    REFUSED(mw_trainer_fit(NULL, NULL, &err));
    REFUSED(mw_trainer_evaluate(NULL, NULL, &(mw_confusion){.classes = 2}, NULL, &err));
    CHECK(mw_confusion_class(NULL, 2, 0).support == 0 && mw_confusion_all(NULL, 2).labels == 0);
    REFUSED(mw_replay_run(NULL, NULL, NULL, &err));
    REFUSED(mw_trainer_log(NULL, NULL, 0, &err));
    REFUSED(mw_metrics_create(NULL, NULL, &err));
    REFUSED(mw_metrics_write(NULL, "step", 1, NULL, 0, &err));
    REFUSED(mw_trainer_fit(NULL, &fit, &err));
}

static void test_communicators_refuse_null(void)
{
    float x = 0.0f;
    REFUSED(mw_communicator_create(NULL, NULL, &err));
    REFUSED(mw_communicator_set_timeout(NULL, 1.0, &err));
    REFUSED(mw_communicator_barrier(NULL, &err));
    REFUSED(mw_communicator_broadcast(NULL, 0, &x, sizeof x, &err));
    REFUSED(mw_communicator_gather(NULL, &x, sizeof x, &x, &err));
    REFUSED(mw_communicator_allreduce(NULL, &x, 1, MW_F32, &err));
    REFUSED(mw_communicator_finish(NULL, &err));
    mw_communicator_destroy(NULL);
    mw_communicator_fail(NULL, NULL);
    mw_communicator_abort(NULL, 1);
    CHECK_INT(mw_communicator_get_info(NULL).rank, 0);
    CHECK_INT(mw_communicator_get_info(NULL).size, 1);
    CHECK(mw_communicator_get_info(NULL).messages_sent == 0);
    CHECK(mw_transport_defaults(NULL, 0, 1).name == NULL);
}

static void test_a_living_trainer_refuses_null(void)
{
    mw_error created = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3)), *y = mw_dense(x, 2, "fc");
    mw_trainer_options options =
        mw_trainer_defaults(mw_cross_entropy(y, mw_input(graph, "y", MW_I32, MW_SHAPE(2))), mw_sgd(0.1f));
    options.prediction = y;
    mw_trainer *trainer = mw_trainer_create(&options, &created);
    mw_graph_destroy(graph);
    CHECK_OK(created);
    REQUIRE(trainer != NULL);
    const mw_fit_options fit = mw_fit_defaults(NULL, 1);
    mw_feed feeds[2] = {{.name = NULL}, {.name = NULL}};
    mw_batch batch = {.feeds = NULL, .feed_count = 2, .examples = 2};
    REFUSED(mw_trainer_step(trainer, NULL, NULL, &err));
    REFUSED(mw_trainer_step(trainer, &batch, NULL, &err));
    batch.feeds = feeds;
    REFUSED(mw_trainer_step(trainer, &batch, NULL, &err));
    feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .count = 6};
    REFUSED(mw_trainer_step(trainer, &batch, NULL, &err));
    REFUSED(mw_trainer_predict(trainer, &batch, MW_F32, NULL, 4, &err));
    REFUSED(mw_trainer_predict(trainer, NULL, MW_F32, &(float){0}, 4, &err));
    REFUSED(mw_trainer_evaluate(trainer, NULL, NULL, NULL, &err));
    REFUSED(mw_trainer_read(trainer, "fc.bias", MW_F32, NULL, 2, &err));
    REFUSED(mw_trainer_write(trainer, "fc.bias", MW_F32, NULL, 2, &err));
    REFUSED(mw_trainer_read(trainer, NULL, MW_F32, &(float){0}, 1, &err));
    REFUSED(mw_trainer_save(trainer, NULL, NULL, &err));
    REFUSED(mw_trainer_load(trainer, NULL, NULL, &err));
    REFUSED(mw_trainer_save_weights(trainer, NULL, &err));
    REFUSED(mw_trainer_load_weights(trainer, NULL, NULL, &err));
    REFUSED(mw_trainer_export(trainer, NULL, NULL, NULL, &err));
    REFUSED(mw_trainer_export(trainer, NULL, NULL,
                              &(mw_write_options){.struct_size = sizeof(mw_write_options), .check_only = true}, &err));
    REFUSED(mw_trainer_save_lora(trainer, NULL, &err));
    REFUSED(mw_trainer_load_weights(trainer, NULL, NULL, &err));
    REFUSED(mw_trainer_fit(trainer, NULL, &err));
    REFUSED(mw_trainer_fit(trainer, &fit, &err));
    CHECK(!mw_program_port_at(mw_trainer_program(trainer), 0, NULL));
    CHECK_INT(mw_trainer_get_info(trainer).steps, 0);
    mw_trainer_destroy(trainer);
}

/* ---- models ---- */

static void test_models_refuse_null(void)
{
    mw_classes classes;
    mw_port port;
    mw_shape shape;
    REFUSED(mw_model_open(NULL, NULL, &err));
    REFUSED(mw_model_create(NULL, NULL, &err));
    REFUSED(mw_model_write(NULL, "x", NULL, &err));
    REFUSED(mw_model_write(NULL, "x", &(mw_write_options){.struct_size = sizeof(mw_write_options), .check_only = true},
                           &err));
    REFUSED(mw_model_result_shape(NULL, "x", 1, &shape, &err));
    REFUSED(mw_model_classes(NULL, "x", &classes, &err));
    REFUSED(mw_predictor_create(NULL, &err));
    REFUSED(mw_predictor_predict(NULL, NULL, NULL, 1, &err));
    REFUSED(mw_model_predict(NULL, NULL, NULL, 1, &err));
    REFUSED(mw_predictor_set_shapes(NULL, NULL, 1, &err));
    REFUSED(mw_predictor_reset(NULL, &err));
    REFUSED(mw_predictor_read(NULL, NULL, MW_F32, NULL, 1, &err));
    REFUSED(mw_predictor_write(NULL, NULL, MW_F32, NULL, 1, &err));
    CHECK(mw_model_get_info(NULL).graph == NULL && mw_model_get_info(NULL).description == NULL &&
          mw_model_get_info(NULL).batch == 0);
    CHECK(mw_model_get_info(NULL).port_count == 0 && !mw_model_port_at(NULL, 0, &port));
    mw_predictor_destroy(NULL);
    mw_model_destroy(NULL);
}

/* ---- completeness ---- */

/* A call that is given an error which is set is tried for every function that takes one. */
static void check_skipping(const char *self, const char *word, const char *open, const char *end)
{
    static const char error[] = "mw_error *err";
    char call[96];
    if (end - open < (ptrdiff_t)sizeof error || strncmp(end - strlen(error), error, strlen(error)) != 0)
        return;
    snprintf(call, sizeof call, "REFUSED(%s(", word);
    check_note(strstr(self, call) != NULL, __FILE__, __LINE__, "%s is not called with a set error here", word);
}

static void add_text(const char *path, char *text)
{
    const size_t size = strlen(text);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return;
    text[size + fread(text + size, 1, (1 << 20) - 1 - size, file)] = '\0';
    fclose(file);
}

static char *read_text(const char *path)
{
    char *text = calloc(1, 1 << 20);
    if (text != NULL)
        add_text(path, text);
    return text;
}

static bool has_word(const char *text, const char *word, size_t length)
{
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        if (!isalnum((unsigned char)at[length]) && at[length] != '_')
            return true;
    }
    return false;
}

/* True if the cases of the family of header op_<family>.h call mw_<operation>, by name or through a word such as
 * UNARY(operation); tests/ops/test_null.c gives them NULL. */
static bool has_case(const char *cases, const char *word)
{
    char operand[96];
    snprintf(operand, sizeof operand, "(%s)", word + strlen("mw_"));
    return cases != NULL && (has_word(cases, word, strlen(word)) || strstr(cases, operand) != NULL);
}

static char *read_cases(const char *header)
{
    char path[512];
    const char *family = header + strlen("ops/");
    if (strncmp(header, "ops/", strlen("ops/")) != 0)
        return NULL;
    snprintf(path, sizeof path, "%s/support/cases/cases_%.*s.c", MW_TESTS_DIR, (int)strlen(family) - 2, family);
    return read_text(path);
}

/* Every function behind an MW_API that takes a pointer stands in this file or in a case. */
static int check_header(const char *self, const char *name)
{
    char path[512], word[80];
    char *cases = read_cases(name);
    int functions = 0;
    snprintf(path, sizeof path, "%s/../include/millwright/%s", MW_TESTS_DIR, name);
    char *text = read_text(path);
    for (const char *at = text; at != NULL && (at = strstr(at, "\nMW_API ")) != NULL;) {
        const char *open = strchr(++at, '('), *end = open != NULL ? strchr(open, ')') : NULL;
        if (end == NULL)
            break;
        const char *start = open;
        while (isalnum((unsigned char)start[-1]) || start[-1] == '_')
            start--;
        snprintf(word, sizeof word, "%.*s", (int)(open - start), start);
        at = end;
        if (memchr(open, '*', (size_t)(end - open)) == NULL)
            continue;
        functions++;
        if (strcmp(word, "mw_error_clear") != 0)
            check_skipping(self, word, open, end);
        check_note(has_word(self, word, strlen(word)) || has_case(cases, word), __FILE__, __LINE__,
                   "%s is not called with NULL here, nor by a case", word);
    }
    free(text);
    free(cases);
    return functions;
}

static void test_every_public_function_is_here(void)
{
    static const char headers[] =
        "ane_e5rt autograd communicator compare dataset dataset_derived dataset_files dataset_images "
        "dataset_labels dataset_sounds log_mel function "
        "gradcheck graph loss mil model onnx_check tensors_derived operation ops/activation "
        "ops/attention ops/compare ops/image ops/gather ops/matmul ops/elementwise ops/normalize "
        "ops/reduce ops/shape optimizer plan program ranges schedule status trainer tune types";
    char path[512], name[64];
    int functions = 0, length = 0;
    snprintf(path, sizeof path, "%s/api/test_null.c", MW_TESTS_DIR);
    char *self = read_text(path);
    REQUIRE(self != NULL);
    snprintf(path, sizeof path, "%s/api/test_null_data.c", MW_TESTS_DIR);
    add_text(path, self);
    for (const char *at = headers; sscanf(at, "%60s%n", name, &length) == 1; at += length)
        functions += check_header(self, strcat(name, ".h"));
    CHECK(functions > 100); /* the headers were found and read */
    free(self);
}

static void test_an_error_that_is_cleared_lets_calls_go_on(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    mw_program *program = mw_program_create(graph, NULL, &err);
    CHECK(mw_program_read(program, "z", MW_F32, &(float){0}, 2, &err) == MW_ERROR_ARGUMENT);
    CHECK(mw_program_run(program, &err) == MW_ERROR_ARGUMENT); /* skipped */
    mw_error_clear(&err);
    CHECK(err.status == MW_OK && err.message[0] == '\0' && err.file == NULL);
    CHECK_INT(mw_program_run(program, &err), MW_OK);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

int main(void)
{
    mw_log_set(keep_line, NULL);
    RUN(test_an_error_that_is_cleared_lets_calls_go_on);
    RUN(test_dispatch_refuses_null);
    RUN(test_looks_into_programs_take_null);
    RUN(test_values_take_null);
    RUN(test_destroy_and_queries_take_null);
    RUN(test_random_constructors_pass_null_on);
    RUN(test_constructors_pass_null_on);
    RUN(test_losses_pass_null_on);
    RUN(test_a_null_graph_yields_null);
    RUN(test_null_names_and_arrays_stick_to_the_graph);
    RUN(test_calls_with_an_error_refuse_null);
    RUN(test_training_refuses_null);
    RUN(test_communicators_refuse_null);
    RUN(test_a_living_trainer_refuses_null);
    RUN(test_models_refuse_null);
    RUN(test_every_public_function_is_here);
    return check_finish();
}
