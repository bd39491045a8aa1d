/* Steps in segments have the bits of the whole: every kind of network, cut a little and nearly everywhere, on both
 * devices, with all that a trainer can be asked for. */
#include "runtime/trainer/object/trainer_access.h"
#include "segment_trainer.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdlib.h>
#include <string.h>

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

/* Returns how many operations the step had. */
static size_t check_setting(const segment_setting *s)
{
    mw_error err = {0};
    segment_trained whole, cut;
    segment_setting uncut = *s;
    size_t calls = 0;
    uncut.segments = 0;
    segment_create(&whole, &uncut, &err);
    segment_create(&cut, s, &err);
    segment_train(&whole, &uncut, 0, SEGMENT_STEPS, &err);
    segment_train(&cut, s, 0, SEGMENT_STEPS, &err);
    if (CHECK_OK(err)) {
        segment_check_equal(&whole, &cut, s);
        CHECK_INT(mw_trainer_get_info(whole.trainer).parts.calls, 1);
        calls = mw_trainer_get_info(cut.trainer).parts.calls;
    }
    segment_destroy(&whole);
    segment_destroy(&cut);
    return calls;
}

static void test_every_network_in_segments_has_the_bits_of_the_whole(void)
{
    static const int segments[] = {2, 7, 100};
    for (const segment_net *net = segment_nets; net->name != NULL; net++)
        for (int threads = 1; threads <= 2; threads++)
            for (size_t k = 0; k < 6; k++) {
                const size_t calls = check_setting(&(segment_setting){
                    .net = net, .device = devices[k % 2], .threads = threads, .segments = segments[k / 2]});
                CHECK(calls >= 2 && calls <= (size_t)segments[k / 2]);
            }
}

/* Without repetitions every place is cut where a cut may be. */
static void test_a_cut_at_nearly_every_operation_changes_no_bit(void)
{
    static const segment_net *net = &segment_nets[6];
    CHECK_STR(net->name, "autoencoder");
    CHECK(check_setting(&(segment_setting){.net = net, .device = MW_DEVICE_CPU, .segments = 4000}) > 150);
    CHECK(check_setting(&(segment_setting){.net = net, .device = MW_DEVICE_ANE, .segments = 126}) > 100);
}

static void test_whatever_a_trainer_is_asked_for_has_the_bits_of_the_whole(void)
{
    static const segment_setting asked[] = {{.clip_norm = 0.5f},
                                            {.clip_value = 0.01f, .loss_scale = 64.0f},
                                            {.dynamic = true},
                                            {.dynamic = true, .clip_norm = 0.5f, .average_decay = 0.9f},
                                            {.accumulate = 3, .average_decay = 0.5f},
                                            {.accumulate = 2, .dynamic = true, .clip_norm = 0.1f},
                                            {.dispatch_steps = 3, .clip_norm = 0.5f},
                                            {.dispatch_steps = 4, .sgd = true},
                                            {.sgd = true, .loss_scale = 8.0f}};
    static const size_t nets[] = {0, 1, 3};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        for (size_t k = 0; k < 6; k++) {
            segment_setting s = asked[i];
            s.net = &segment_nets[nets[k / 2]];
            s.device = devices[k % 2];
            s.threads = (int)(i + k) % 2 + 1;
            s.segments = s.dispatch_steps > 1 ? 24 : 40;
            CHECK(check_setting(&s) > 5);
        }
}

/* Where values between operations are not rounded, none of them is handed on. */
static void test_every_arithmetic_of_the_model_has_the_bits_of_the_whole(void)
{
    static const char *const profiles[] = {"h13", "h14", "h17", "h17,-wide_chains", "ieee"};
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        for (size_t k = 0; k < 3; k++)
            check_setting(&(segment_setting){
                .net = &segment_nets[3 * k], .device = MW_DEVICE_ANE, .segments = 100, .profile = profiles[i]});
}

/* ---- going on ---- */

static void go_on(const segment_setting *first, const segment_setting *then, mw_error *err)
{
    static const char path[] = "trained.safetensors";
    char folder[512];
    segment_trained all, before, after;
    REQUIRE(folder_enter(folder));
    segment_create(&all, first, err);
    segment_create(&before, first, err);
    segment_create(&after, then, err);
    segment_train(&all, first, 0, SEGMENT_STEPS, err);
    segment_train(&before, first, 0, 3, err);
    mw_trainer_save(before.trainer, path, NULL, err);
    mw_trainer_load(after.trainer, path, NULL, err);
    memcpy(after.losses, before.losses, sizeof after.losses);
    segment_train(&after, then, 3, SEGMENT_STEPS, err);
    if (CHECK_OK(*err))
        segment_check_equal(&all, &after, then);
    segment_destroy(&all);
    segment_destroy(&before);
    segment_destroy(&after);
    folder_leave(folder);
}

static void test_checkpoints_go_on_between_segments_and_the_whole(void)
{
    for (size_t k = 0; k < 2; k++) {
        mw_error err = {0};
        const segment_setting whole = {.net = &segment_nets[0], .device = devices[k]};
        segment_setting cut = whole;
        cut.segments = 30;
        go_on(&whole, &cut, &err);
        go_on(&cut, &whole, &err);
    }
}

/* ---- bad steps ---- */

static unsigned char *take_state(mw_trainer *trainer, size_t *out_size)
{
    const mw__state_set *set = mw__trainer_state(trainer);
    size_t size = 0;
    for (size_t i = 0; i < set->count; i++)
        size += set->entries[i].size;
    unsigned char *bytes = malloc(size), *at = bytes;
    for (size_t i = 0; bytes != NULL && i < set->count; at += set->entries[i++].size)
        memcpy(at, set->entries[i].data, set->entries[i].size);
    *out_size = size;
    return bytes;
}

/* One weight deep in the network is so large that the loss overflows. */
static void check_bad_step(const segment_setting *s)
{
    mw_error err = {0};
    segment_trained t;
    segment_create(&t, s, &err);
    segment_train(&t, s, 0, 2, &err);
    CHECK_OK(err);
    float weights[64 * 64];
    const mw__state_entry *entry = mw__state_find(mw__trainer_state(t.trainer), "h1.fc1.weight");
    REQUIRE(entry != NULL);
    const size_t count = (size_t)mw_shape_count(entry->shape);
    mw_trainer_read(t.trainer, "h1.fc1.weight", MW_F32, weights, count, &err);
    weights[count - 1] = s->device == MW_DEVICE_ANE ? 65504.0f : 3e38f;
    for (size_t i = 0; i < count; i += 3)
        weights[i] = weights[count - 1];
    mw_trainer_write(t.trainer, "h1.fc1.weight", MW_F32, weights, count, &err);
    CHECK_OK(err);
    size_t size;
    unsigned char *before = take_state(t.trainer, &size);
    segment_train(&t, s, 2, 3, &err);
    CHECK_INT(err.status, MW_ERROR_NUMERIC);
    CHECK(strstr(err.message, "step 3 is refused") != NULL && strstr(err.message, "the first result") != NULL);
    unsigned char *after = take_state(t.trainer, &size);
    CHECK(memcmp(before, after, size) == 0);
    CHECK_INT(mw_trainer_get_info(t.trainer).steps, 2);
    free(before);
    free(after);
    segment_destroy(&t);
}

static void test_a_step_that_is_not_finite_leaves_everything_as_it_is(void)
{
    check_bad_step(&(segment_setting){.net = &segment_nets[0], .device = MW_DEVICE_CPU, .segments = 30});
    check_bad_step(
        &(segment_setting){.net = &segment_nets[0], .device = MW_DEVICE_ANE, .segments = 30, .profile = "ieee"});
    check_bad_step(&(segment_setting){.net = &segment_nets[0], .device = MW_DEVICE_CPU, .segments = 9, .threads = 2});
}

int main(void)
{
    RUN(test_every_network_in_segments_has_the_bits_of_the_whole);
    RUN(test_a_cut_at_nearly_every_operation_changes_no_bit);
    RUN(test_whatever_a_trainer_is_asked_for_has_the_bits_of_the_whole);
    RUN(test_every_arithmetic_of_the_model_has_the_bits_of_the_whole);
    RUN(test_checkpoints_go_on_between_segments_and_the_whole);
    RUN(test_a_step_that_is_not_finite_leaves_everything_as_it_is);
    return check_finish();
}
