//! The results before and after one in the list that a search gives.

use refract_domain::ids::ResultId;

use super::candidate_reader::CandidateReader;
use super::least_sure::place_of;
use super::search_page::{SearchLimits, SearchPage};
use super::{ResultSearch, SearchError};
use crate::lenses::prism_lens::PrismLens;
use crate::results::Results;

/// The results beside one in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// The result before it; `None` at the beginning.
    pub previous: Option<ResultId>,
    /// The result after it; `None` at the end.
    pub next: Option<ResultId>,
}

impl Results<'_> {
    /// The results beside this one in the list of a search, newest first.
    ///
    /// # Errors
    /// When the column of a value cannot be searched, or the database fails.
    pub async fn neighbours(
        self,
        lens: &PrismLens,
        search: &ResultSearch,
        id: ResultId,
        limits: SearchLimits,
    ) -> Result<Neighbours, SearchError> {
        let limits = SearchLimits {
            results: 1,
            ..limits
        };
        let reader = CandidateReader::new(self.refract, lens, search, limits)?;
        let nearest = async |page| {
            let matches = reader.read(page).await?;
            Ok::<_, SearchError>(matches.found.first().map(|candidate| candidate.id))
        };
        Ok(Neighbours {
            previous: nearest(SearchPage::NewerThan(id)).await?,
            next: nearest(SearchPage::OlderThan(id)).await?,
        })
    }

    /// The results beside this one in the list of a search, the least sure one first; none if the
    /// result is not in the list.
    ///
    /// # Errors
    /// When the column of a value cannot be searched, or the database fails.
    pub async fn least_sure_neighbours(
        self,
        lens: &PrismLens,
        search: &ResultSearch,
        id: ResultId,
        limits: SearchLimits,
    ) -> Result<Neighbours, SearchError> {
        let (ranked, _) = self.rank(lens, search, limits).await?;
        let Some(place) = place_of(&ranked, Some(id)) else {
            return Ok(Neighbours::default());
        };
        let at = |place: Option<usize>| Some(ranked.get(place?)?.id);
        Ok(Neighbours {
            previous: at(place.checked_sub(1)),
            next: at(place.checked_add(1)),
        })
    }
}
