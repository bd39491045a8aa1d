/* Words that the interpreter holds a task to. */
#include "chip/task/expect.h"

#define BOTH   .neural = true, .planar = true
#define NEURAL .neural = true
#define PLANAR .planar = true
#define ROW(who, field_, least_, most_, otherwise_)                                                                    \
    {                                                                                                                  \
        who, .field = MW__FIELD_##field_, .least = least_, .most = most_, .otherwise = otherwise_                      \
    }

static const mw__chip_expectation rows[] = {
    ROW(BOTH, source_in_dram, 1, 1, "the source is in L2: a chain handed over on the chip needs a model of its memory"),
    ROW(BOTH, target_in_dram, 1, 1,
        "the result goes to L2: a chain handed over on the chip needs a model of its memory"),
    ROW(BOTH, source1_on, 1, 1, "source 1 is not read"),
    ROW(BOTH, target_on, 1, 1, "the result is not written"),
    ROW(BOTH, in_format, 2, 2, "elements that are not fp16"),
    ROW(BOTH, out_format, 2, 2, "elements that are not fp16"),
    ROW(BOTH, source1_memory, 2, 2, "elements in memory that are not fp16"),
    ROW(BOTH, target_memory, 2, 2, "elements in memory that are not fp16"),
    ROW(BOTH, source1_interleave, 1, 1, "channels that are interleaved in memory"),
    ROW(BOTH, target_interleave, 1, 1, "channels that are interleaved in memory"),
    ROW(BOTH, padding_mode, 0, 0, "padding that is not of zeros"),
    ROW(BOTH, element_multiply, 0, 0, "ElemMultMode, unknown"),
    ROW(BOTH, offset_w, 1, 1, "Ox, unknown"),
    ROW(BOTH, offset_h, 1, 1, "Oy, unknown"),
    ROW(BOTH, kernel_w, 1, 31, "a kernel without width"),
    ROW(BOTH, kernel_h, 1, 31, "a kernel without height"),
    ROW(BOTH, stride_w, 1, 3, "no step along the width"),
    ROW(BOTH, stride_h, 1, 3, "no step along the height"),
    ROW(NEURAL, source2_enable, 0, 0, "a neural task of two sources: a product of two values of run time"),
    ROW(NEURAL, palette, 0, 0, "coefficients from a palette"),
    ROW(NEURAL, kernel_reuse, 0, 0, "GroupKernelReuse, unknown"),
    ROW(NEURAL, bias_mode, 0, 0, "BiasMode, unknown"),
    ROW(NEURAL, matrix_bias, 0, 0, "MatrixBiasEn, unknown"),
    ROW(NEURAL, post_scale_mode, 0, 0, "a post-scale for each channel, unknown"),
    ROW(NEURAL, activation, 0, 2, "activation 3, unknown"),
    ROW(NEURAL, active_ne, 0, 4, "more than 16 engines"),
    ROW(NEURAL, lanes, 0, 5, "more than 32 lanes"),
    ROW(PLANAR, source2_enable, 1, 1, "a planar task of one source: a reduction or a pool, unknown"),
    ROW(PLANAR, source2_memory, 2, 2, "elements in memory that are not fp16"),
    ROW(PLANAR, pe_enable, 0, 0, "En, unknown"),
    ROW(PLANAR, pe_operation, 0, 4, "an operation of the planar engine that nobody has explained"),
    ROW(PLANAR, pe_relu, 0, 0, "ReluEn, unknown"),
    ROW(PLANAR, pe_condition, 0, 0, "a comparison, unknown"),
    ROW(PLANAR, pe_first, 0, 0, "FirstSrc, unknown"),
    ROW(PLANAR, pe_second, 2, 3, "a second operand that is not source 2"),
    ROW(PLANAR, pe_pre_low, 0, 0, "the low half of PreScale, unknown"),
    ROW(PLANAR, kernel_w, 1, 1, "a window of the planar engine: a pool"),
    ROW(PLANAR, kernel_h, 1, 1, "a window of the planar engine: a pool"),
    ROW(PLANAR, stride_w, 1, 1, "steps of the planar engine: a pool"),
    ROW(PLANAR, stride_h, 1, 1, "steps of the planar engine: a pool"),
    ROW(PLANAR, groups, 0, 1, "groups in a planar task"),
};

/* Words that are the same wherever they were seen. */
static const struct same {
    mw__register_id id;
    bool neural, planar;
    uint32_t value;
} always[] = {
    {MW__REGISTER_in_depth, true, true, 1},
    {MW__REGISTER_out_depth, true, true, 1},
    {MW__REGISTER_conv_depth, true, true, 0x2041},
    {MW__REGISTER_acc_bias, true, false, 0},
    {MW__REGISTER_matrix_vector_bias, true, false, 0},
};

/* Registers without which a task says nothing. */
static const mw__register_id needed[] = {
    MW__REGISTER_in_dim,       MW__REGISTER_out_dim,       MW__REGISTER_cin,        MW__REGISTER_cout,
    MW__REGISTER_ch_cfg,       MW__REGISTER_conv_cfg,      MW__REGISTER_group_cfg,  MW__REGISTER_source1_cfg,
    MW__REGISTER_source1_row,  MW__REGISTER_source1_plane, MW__REGISTER_target_cfg, MW__REGISTER_target_row,
    MW__REGISTER_target_plane,
};
static const mw__register_id needed_neural[] = {MW__REGISTER_cfg, MW__REGISTER_kernel_cfg, MW__REGISTER_mac_cfg,
                                                MW__REGISTER_post_scale};
static const mw__register_id needed_planar[] = {MW__REGISTER_pe_cfg, MW__REGISTER_pe_bias_scale,
                                                MW__REGISTER_pe_pre_scale, MW__REGISTER_pe_final_scale};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const mw__chip_expectation *mw__chip_expectations(size_t index) { return index < COUNT(rows) ? &rows[index] : NULL; }

static mw_status expect_written(const mw__task *task, const mw__register_id *ids, size_t count, mw_error *err)
{
    uint32_t word;
    for (size_t i = 0; i < count; i++)
        if (!mw__task_has(task, ids[i], 0, &word))
            return mw__fail(err, MW_ERROR_FORMAT, "%s (0x%05x) is not written", mw__register_rows()[ids[i]].name,
                            (unsigned)mw__register_rows()[ids[i]].address);
    return MW_OK;
}

static mw_status expect_field(const mw__task *task, const mw__chip_expectation *row, mw_error *err)
{
    const mw__field_row *field = &mw__field_rows()[row->field];
    const mw__register_row *in = &mw__register_rows()[field->in];
    const uint32_t value = mw__task_field(task, row->field);
    if (value >= row->least && value <= row->most)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s.%s (0x%05x) is %u: %s", in->name, field->id, (unsigned)in->address,
                    (unsigned)value, row->otherwise);
}

static mw_status expect_same(const mw__task *task, const struct same *row, mw_error *err)
{
    const mw__register_row *in = &mw__register_rows()[row->id];
    uint32_t word;
    if (!mw__task_has(task, row->id, 0, &word) || word == row->value)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s (0x%05x) is 0x%x, and 0x%x wherever it was seen", in->name,
                    (unsigned)in->address, (unsigned)word, (unsigned)row->value);
}

static mw_status expect_streams(const mw__task *task, mw_error *err)
{
    const unsigned count = mw__register_rows()[MW__REGISTER_stream_dma].count;
    for (unsigned i = 0; i < count; i++)
        if (mw__task_field_at(task, MW__FIELD_stream_enable, i) != 0)
            return mw__fail(err, MW_ERROR_UNSUPPORTED, "coefficient stream %u is read, which was never seen", i);
    return MW_OK;
}

static mw_status expect_rows(const mw__task *task, bool neural, mw_error *err)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (neural ? rows[i].neural : rows[i].planar)
            MW_TRY(expect_field(task, &rows[i], err));
    for (size_t i = 0; i < COUNT(always); i++)
        if (neural ? always[i].neural : always[i].planar)
            MW_TRY(expect_same(task, &always[i], err));
    return neural ? expect_streams(task, err) : MW_OK;
}

mw_status mw__chip_expect_task(const mw__task *task, bool neural, mw_error *err)
{
    if (task->header != MW__TASK_HEADER)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "a header of %zu words: tasks of products of two values of run time have those", task->header);
    MW_TRY(expect_written(task, needed, COUNT(needed), err));
    if (neural)
        MW_TRY(expect_written(task, needed_neural, COUNT(needed_neural), err));
    else
        MW_TRY(expect_written(task, needed_planar, COUNT(needed_planar), err));
    return expect_rows(task, neural, err);
}
