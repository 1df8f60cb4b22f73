package copyuser

// PageAt returns the page that is mapped at index i of the area, nil if none is
// present.
func (a *Area) PageAt(i int) *Page {
	a.MM.ptl.Lock()
	defer a.MM.ptl.Unlock()
	e := a.MM.pgd.find(a.Start + Addr(i)<<PageShift)
	if e == nil {
		return nil
	}
	return e.page.Load()
}
