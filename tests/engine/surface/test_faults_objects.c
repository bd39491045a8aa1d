/* Every allocation of options and of objects beside programs fails once: an error each time, what was set before stays,
 * and nothing leaks. */
#include "support/check.h"
#include "support/failing.h"

#include <e5rt/e5rt.h>

static bool done(e5rt_error_code code, e5rt_error_code *first)
{
    if (*first == 0)
        *first = code;
    return code == 0;
}

static void check_segmenter(void *options, const char *wanted)
{
    const char *name = NULL;
    CHECK_INT(e5rt_e5_compiler_options_get_segmenter(options, &name), 0);
    CHECK_STR(name, wanted);
}

static void set_lists(void *options, e5rt_error_code *first)
{
    static const char *const names[] = {"main", "other"};
    const uint32_t backends[] = {1, 2};
    uint32_t got[2] = {0};
    done(e5rt_e5_compiler_options_set_custom_ane_compiler_options(options, "TargetArchitecture=h13"), first);
    done(e5rt_e5_compiler_options_set_mil_entry_points(options, names, 2), first);
    if (done(e5rt_e5_compiler_options_set_preferred_cpu_backends(options, backends, 2), first))
        CHECK_INT(e5rt_e5_compiler_options_get_preferred_cpu_backends(options, got, 2), 0);
}

static void set_texts(void *options, e5rt_error_code *first)
{
    const char *before = "";
    if (done(e5rt_e5_compiler_options_set_segmenter(options, "graph"), first))
        before = "graph";
    if (done(e5rt_e5_compiler_options_set_segmenter(options, "coarse"), first))
        before = "coarse";
    check_segmenter(options, before);
}

static e5rt_error_code use_options(void)
{
    void *options = NULL, *config = NULL;
    e5rt_error_code first = 0;
    if (done(e5rt_e5_compiler_options_create(&options), &first)) {
        set_texts(options, &first);
        set_lists(options, &first);
    }
    if (done(e5rt_e5_compiler_config_options_create(&config), &first))
        done(e5rt_e5_compiler_config_options_set_cache_bundle_location(config, "/tmp"), &first);
    CHECK((options == NULL || e5rt_e5_compiler_options_release(&options) == 0) &&
          (config == NULL || e5rt_e5_compiler_config_options_release(&config) == 0));
    return first;
}

static e5rt_error_code use_objects(void)
{
    const uint64_t shape[] = {4, 4}, range[] = {1, 3};
    const int64_t strides[] = {16, 1};
    void *buffer = NULL, *part = NULL, *dtype = NULL, *desc = NULL, *slice = NULL, *operand = NULL, *memory = NULL;
    e5rt_error_code first = 0;
    if (done(e5rt_buffer_object_alloc(&buffer, 64, 0), &first))
        done(e5rt_buffer_object_create_as_alias(&part, buffer, 8, 8), &first);
    if (done(e5rt_tensor_desc_dtype_create(&dtype, E5RT_MW_FLOAT32, 1), &first) &&
        done(e5rt_tensor_desc_create_with_strides(&desc, shape, strides, 2, dtype), &first)) {
        done(e5rt_tensor_desc_create_slice(desc, 0, range, &slice), &first);
        done(e5rt_operand_desc_retain_from_tensor_desc(&operand, desc), &first);
        done(e5rt_tensor_desc_create_memory_object(desc, 0, 64, &memory), &first);
    }
    CHECK((buffer == NULL || e5rt_buffer_object_release(&buffer) == 0) &&
          (part == NULL || e5rt_buffer_object_release(&part) == 0) &&
          (dtype == NULL || e5rt_tensor_desc_dtype_release(&dtype) == 0) &&
          (desc == NULL || e5rt_tensor_desc_release(&desc) == 0) &&
          (slice == NULL || e5rt_tensor_desc_release(&slice) == 0) &&
          (operand == NULL || e5rt_operand_desc_release(&operand) == 0) &&
          (memory == NULL || e5rt_memory_object_release(&memory) == 0));
    return first;
}

static void fail_each(e5rt_error_code (*use)(void), bool and_after)
{
    long n = 0;
    for (; n < 100; n++) {
        failing_allocator failing = {.fail_at = n, .and_after = and_after};
        const mw_allocator allocator = failing_allocator_of(&failing);
        CHECK_INT(e5rt_mw_set_allocator(allocator.resize, allocator.user), 0);
        const e5rt_error_code code = use();
        CHECK_INT(failing.live, 0);
        CHECK_INT(code, failing.failed ? E5RT_ALLOCATION_FAILURE : 0);
        if (!failing.failed)
            break;
    }
    CHECK(n >= 8 && n < 100);
    CHECK_INT(e5rt_mw_set_allocator(NULL, NULL), 0);
}

static void test_each_failed_allocation_is_an_error_without_leak(void)
{
    for (int and_after = 0; and_after <= 1; and_after++) {
        fail_each(use_options, and_after != 0);
        fail_each(use_objects, and_after != 0);
    }
}

int main(void)
{
    RUN(test_each_failed_allocation_is_an_error_without_leak);
    return check_finish();
}
