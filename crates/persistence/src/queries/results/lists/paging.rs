//! Keyset pagination of results: each page is one query that continues after the previous page, so
//! that the database holds nothing between them. The smaller the results, the more a page has.

use refract_domain::ids::ResultId;

use crate::queries::results::lists::query::{ResultOrder, ResultQuery};

/// How large pages are.
#[derive(Clone, Copy)]
pub(crate) struct PageLimits {
    /// Results of the first page, when their size is not known yet.
    pub(crate) first: u32,
    /// Most results of a page: large results may follow small ones.
    pub(crate) most: u32,
    /// A page has at most this many times the results of the previous page.
    pub(crate) growth: u32,
    /// Bytes that the results of a page should take.
    pub(crate) bytes: usize,
}

/// The pages of a query: the end of the last page and the size of the next.
pub(crate) struct Paging {
    query: ResultQuery,
    order: ResultOrder,
    limits: PageLimits,
    last: Option<ResultId>,
    size: u32,
}

impl Paging {
    /// All results of a query in this order, before the first page.
    pub(crate) fn new(query: ResultQuery, order: ResultOrder, limits: PageLimits) -> Self {
        Self {
            query,
            order,
            limits,
            last: None,
            size: limits.first,
        }
    }

    /// The query for the next page, with `most` results at most.
    pub(crate) fn next_page(&self, most: u32) -> ResultQuery {
        let size = self.size.min(most);
        self.query.clone().page(self.order, self.last, size)
    }

    /// Continues after a page, given the ids and bytes of its results.
    pub(crate) fn go_on_after(&mut self, page: impl Iterator<Item = (ResultId, usize)>) {
        let (mut results, mut bytes) = (0_usize, 0_usize);
        for (id, size) in page {
            self.last = Some(id);
            results += 1;
            bytes += size;
        }
        self.size = self.next_size(results, bytes);
    }

    /// Results of the next page: as many as fit if they are like those of the last page, up to the
    /// limit on growth.
    fn next_size(&self, results: usize, bytes: usize) -> u32 {
        let fitting = self.limits.bytes.saturating_mul(results) / bytes.max(1);
        let grown = self.size.saturating_mul(self.limits.growth);
        let largest = grown.min(self.limits.most);
        u32::try_from(fitting).unwrap_or(u32::MAX).clamp(1, largest)
    }
}
